/* stop.h - SIGINT and SIGTERM as a wish: 0, or the number of the signal that came. */
#ifndef TRAINER_STOP_H
#define TRAINER_STOP_H

void stop_install(void);
int stop_wanted(void);

#endif
