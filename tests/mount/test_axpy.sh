#!/bin/bash
# The AXPY proof with shell tools: 257 outputs equal, 63 guard values untouched.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/axpy.sh"
requires cp python:numpy
in_mount
axpy_proof
finish
