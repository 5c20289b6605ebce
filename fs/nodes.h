/* nodes.h - the node classes tree.def refers to, and what node files offer each other. Grouped by
 * file.
 */
#ifndef FS_NODES_H
#define FS_NODES_H

#include "fs/request.h"
#include "fs/tree.h"

/* nodes_root.c */
extern const struct node_ops readme_ops, status_ops, ctl_ops, log_ops, bridge_ops, maps_ops;
/* nodes_sensors.c */
extern const struct node_ops telemetry_ops, hwmon_name_ops, hwmon_interval_ops, hwmon_ops,
        hwmon_label_ops;
/* sensors_sample - measure, publish, act on heat. Owner thread. */
void sensors_sample(struct fs *fs);
const char *sensors_heat_word(enum rx_heat heat);
/* sensors_tick - let the owner sample when it is time, ahead of everything else; main thread.
 * Return: milliseconds until the next time. */
unsigned sensors_tick(struct fs *fs);

/* nodes_vram.c */
extern const struct node_ops vram_ops, bios_ops;
/* nodes_regs.c */
extern const struct node_ops regs_ops, reg_ops;
int regs_build(struct fs *fs, struct node *name_dir); /* the by-name folders; fs->lock held */
/* nodes_pci.c */
extern const struct node_ops pci_config_ops, pci_rom_ops, pci_text_ops;
/* pci_build - fill pci/; owner thread, card open. Return: 0; -ENOMEM; link errors. */
int pci_build(struct fs *fs);

/* nodes_buffers.c */
extern const struct node_ops buffers_dir_ops, buffer_ops;
/* buffers_adopt - nodes for the buffers the driver has; owner thread, fs->lock held. */
int buffers_adopt(struct fs *fs);
/* buffers_adopt_attributes - and what was said about them; owner thread. Return: 0, also when some
 * are lost (logged); -ENOMEM; -ENODEV. */
int buffers_adopt_attributes(struct fs *fs);
/* buffer_keep - owner and attributes as they are now, for the next owner of the card; owner thread.
 */
void buffer_keep(struct fs *fs, struct node *n);
/* buffers_trim - give back what growing reserved ahead; owner thread. */
void buffers_trim(struct fs *fs);
void buffers_drop(struct fs *fs); /* the card is going: forget all; owner thread */
int buffer_xattr_get(struct fs *fs, struct node *n, const char *name, struct text *out);
int buffer_xattr_set(struct node *n, const char *name, const char *value, size_t len);
/* buffer_xattr_list - names, a NUL behind each. fs->lock held, as for the two above. */
void buffer_xattr_list(struct node *n, struct text *out);

/* nodes_kernels.c */
extern const struct node_ops kernels_dir_ops, kernel_cl_ops, kernel_co_ops, kernel_log_ops,
        kernel_json_ops;
/* kernels_adopt, plans_adopt - those of an earlier owner of the card; owner thread. Return: 0, also
 * when some could not be had again (logged); -ENOMEM; -ENODEV. */
int kernels_adopt(struct fs *fs);
void kernels_republish(struct fs *fs); /* after a reset of the card: modules again; owner thread */

/* nodes_plans.c: the folder, loading and unloading */
extern const struct node_ops plans_dir_ops, plan_json_ops, plan_status_ops, plan_loss_ops,
        plan_pm4_ops;
/* nodes_plan_io.c: run and input */
extern const struct node_ops plan_run_ops, plan_input_ops;
int plans_adopt(struct fs *fs);
/* plans.c: plans_tick - look after loaded plans; owner thread. Return: milliseconds until the next
 * time. */
unsigned plans_tick(struct fs *fs);
/* plans_loaded - whether a plan is resident or on its way. Owner thread. */
bool plans_loaded(struct fs *fs);
void plans_stop(struct fs *fs); /* at a step boundary; owner thread */
void plans_drop(struct fs *fs); /* the card is being closed: unload all; owner thread */

/* nodes_checkpoints.c */
extern const struct node_ops checkpoints_dir_ops, checkpoints_ctl_ops, checkpoint_ops;
/* checkpoints_sync - show a snapshot that became complete; owner thread. */
void checkpoints_sync(struct fs *fs);
void checkpoints_drop(struct fs *fs); /* the card is being closed; owner thread */

#endif
