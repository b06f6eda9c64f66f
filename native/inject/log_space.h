#pragma once
// Pieces of the log's file that lie on the disk for certain: writing to them later can fail the program in no way.
#include <stdint.h>

namespace gmt::inject {

/// Backs [offset, offset + bytes) of the file with disk space, maps it and closes `fd`; null: errno has the reason. Opened for each
/// piece: a descriptor that we kept could be closed by the program and its number given to a file of its own.
void *open_piece(int fd, uint64_t offset, uint64_t bytes);

}  // namespace gmt::inject
