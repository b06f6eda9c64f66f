#pragma once
// Code objects in BPF: what distinguishes two of them that had one address in turn, and their description at first sight.
// `own->code_block` holds the code object.
#include "python_scratch.bpf.h"

/// A bytes object from its size on: size, hash, and its first bytes, behind whose end all is zero.
struct gmt_python_bytes {
  uint64_t size, hash, front[4];
};

/// Objects end at 16 bytes, but not at 64, so what lies behind one may be no memory at all.
GMT_INLINE bool gmt_python_load_bytes(struct gmt_python_bytes *to, uint64_t object) {
  uint64_t from = object + GMT_PYTHON_BYTES_SIZE;
  if (!gmt_python_load(to, sizeof *to, from)) {
    if (!gmt_python_load(to, 16, from)) return false;
    for (uint32_t i = 0; i < 4; i++) to->front[i] = 0;
    for (uint32_t i = 0; i < 4; i++) {
      if (8 * i >= to->size) break;
      if (!gmt_python_load_word(&to->front[i], object + GMT_PYTHON_BYTES_DATA + 8 * i)) return false;
    }
  }
  for (uint32_t i = 0; i < 4; i++) {
    uint64_t have = to->size > 8 * i ? to->size - 8 * i : 0;
    if (have < 8) to->front[i] &= (1ull << 8 * (have & 7)) - 1;
  }
  return true;
}

/// Of the line table: its size, its first 32 bytes and its last 8.
GMT_INLINE bool gmt_python_print_table(uint64_t object, uint64_t *print) {
  struct gmt_python_bytes table;
  uint64_t last = 0;
  if (!gmt_python_load_bytes(&table, object)) return false;
  if (table.size > 32 && !gmt_python_load_word(&last, object + GMT_PYTHON_BYTES_DATA + table.size - 8)) return false;
  *print =
      gmt_mix(table.front[0], table.front[1]) + gmt_mix(table.front[2] + GMT_MIX_A * table.size, table.front[3] ^ last);
  return true;
}

/// Of the file's name: its length and its last 8 characters. Frames of one file mostly follow one another.
GMT_INLINE bool gmt_python_print_file(const struct gmt_python_interpreter *in, struct gmt_python_scratch *own) {
  uint64_t file = gmt_code_word(own, in->at.code_file), length = 0, end = 0;
  if (file == own->file) return true;
  if (!gmt_python_load_word(&length, file + GMT_PYTHON_STRING_LENGTH)) return false;
  uint64_t at = file + in->at.string_ascii + (length < 8 ? 0 : length - 8);
  if (!gmt_python_load_word(&end, at)) return false;
  own->file_print = gmt_mix(file ^ end, length);
  own->file = file;
  return true;
}

GMT_INLINE bool gmt_python_print_content(const struct gmt_python_interpreter *in, struct gmt_python_scratch *own,
                                         uint64_t *print) {
  uint64_t name_hash = 0, full_name = 0, table = 0;
  uint64_t name = gmt_code_word(own, in->at.code_name);
  if (!gmt_python_print_file(in, own)) return false;
  if (!gmt_python_load_word(&name_hash, name + GMT_PYTHON_STRING_HASH)) return false;
  if (in->at.code_full_name != in->at.code_name &&
      !gmt_python_load_word(&full_name, gmt_code_word(own, in->at.code_full_name) + in->at.string_ascii))
    return false;
  if (!gmt_python_print_table(gmt_code_word(own, in->at.code_line_table), &table)) return false;
  uint64_t counts = (uint64_t)gmt_code_half(own, in->at.code_counts) << 32 | gmt_code_half(own, in->at.code_counts + 4);
  uint64_t more =
      (uint64_t)gmt_code_half(own, in->at.code_counts + 8) << 32 | gmt_code_half(own, in->at.code_counts + 12);
  *print = gmt_mix(own->file_print + name_hash, full_name) + gmt_mix(counts, more) + table;
  return true;
}

/// The notion of identity of native/python/fingerprint.h: co_version, from 3.12 on unique until 2^32 code objects were made, else the
/// content. False: it could not be read.
GMT_INLINE bool gmt_python_print(const struct gmt_python_interpreter *in, struct gmt_python_scratch *own,
                                 uint64_t *print) {
  if (in->at.code_version != GMT_PYTHON_NONE) {
    *print = gmt_code_half(own, in->at.code_version);
    if (*print) return true;
  }
  return gmt_python_print_content(in, own, print);
}

/// What is copied of one text or table, in parts.
struct gmt_python_copy {
  struct gmt_python_scratch *own;
  uint64_t from;
  uint32_t bytes;
  uint32_t part;
};

static long gmt_python_put_part(uint32_t index, void *data) {
  struct gmt_python_copy *copy = data;
  struct gmt_up_python_part *part = &copy->own->part;
  uint32_t offset = index * GMT_PYTHON_PART_BYTES;
  if (offset >= copy->bytes) return 1;
  uint64_t bytes = copy->bytes - offset;
  if (bytes > GMT_PYTHON_PART_BYTES) bytes = GMT_PYTHON_PART_BYTES;
  part->part = copy->part;
  part->offset = offset;
  part->bytes = bytes;
  if (!gmt_python_load(part->data, bytes, copy->from + offset) ||
      !gmt_put(part, offsetof(struct gmt_up_python_part, data) + bytes)) {
    copy->own->lost = 1;
    return 1;
  }
  return 0;
}

/// Where a text's characters are, how many bytes of it are needed, and the width of one.
struct gmt_python_text {
  uint64_t data;
  uint32_t bytes;
  uint16_t width;
  uint16_t unread;
};

/// False: its memory could not be read. Bits of PyASCIIObject.state, the same from 3.9 to 3.14: interned:2, kind:3, compact:1, ascii:1.
GMT_INLINE bool gmt_python_find_text(const struct gmt_python_interpreter *in, uint64_t text, uint64_t most,
                                     struct gmt_python_text *found) {
  struct {
    uint64_t length, hash;
    uint32_t state, padding;
  } head;
  found->bytes = 0;
  found->width = 1;
  found->unread = 1;
  if (!gmt_python_load(&head, sizeof head, text + GMT_PYTHON_STRING_LENGTH)) return false;
  uint32_t width = head.state >> 2 & 7;
  if (!(head.state & 0x20) || (width != 1 && width != 2 && width != 4)) return true;
  found->data = text + (head.state & 0x40 ? in->at.string_ascii : in->at.string_other);
  found->bytes = (head.length < most ? head.length : most) * width;
  found->width = width;
  found->unread = 0;
  return true;
}

/// The record of a code object, and then its parts. `own->lost`: something could not be read or queued.
static __noinline void gmt_python_put_code(struct gmt_python_walk *walk, uint64_t key) {
  const struct gmt_python_interpreter *in = walk->in;
  struct gmt_python_scratch *own = walk->own;
  struct gmt_python_text texts[2];
  uint64_t table = gmt_code_word(own, in->at.code_line_table), table_bytes = 0;
  own->lost =
      !gmt_python_find_text(in, gmt_code_word(own, in->at.code_file), GMT_PYTHON_FILE_CHARACTERS, &texts[0]) ||
      !gmt_python_find_text(in, gmt_code_word(own, in->at.code_full_name), GMT_PYTHON_NAME_CHARACTERS, &texts[1]) ||
      !gmt_python_load_word(&table_bytes, table + GMT_PYTHON_BYTES_SIZE);
  if (own->lost) return;
  bool cut = table_bytes > GMT_PYTHON_TABLE_BYTES;
  struct gmt_up_python_code *about = (struct gmt_up_python_code *)&own->part;
  about->head.type = GMT_UP_PYTHON_CODE;
  about->head.time = bpf_ktime_get_ns();
  about->head.stack = key;
  about->first_line = gmt_code_half(own, in->at.code_first_line);
  about->version = in->version;
  about->bytes[GMT_PART_FILE] = texts[0].bytes;
  about->bytes[GMT_PART_NAME] = texts[1].bytes;
  about->bytes[GMT_PART_TABLE] = cut ? 0 : table_bytes;
  about->width[0] = texts[0].width;
  about->width[1] = texts[1].width;
  about->table_cut = cut;
  about->text_unread = texts[0].unread | texts[1].unread << 1;
  if (!gmt_put(about, sizeof *about)) {
    own->lost = 1;
    return;
  }
  own->part.head.type = GMT_UP_PYTHON_PART;
  struct gmt_python_copy copy = {.own = own};
  for (uint32_t i = 0; i < GMT_PARTS; i++) {
    copy.part = i;
    copy.from = i == GMT_PART_TABLE ? table + GMT_PYTHON_BYTES_DATA : texts[i & 1].data;
    copy.bytes = i == GMT_PART_TABLE ? (cut ? 0 : table_bytes) : texts[i & 1].bytes;
    if (copy.bytes) bpf_loop(GMT_PYTHON_TABLE_BYTES / GMT_PYTHON_PART_BYTES, gmt_python_put_part, &copy, 0);
    if (own->lost) return;
  }
}

/// Describes the code object unless that was done. `own->lost`: that could not be done.
GMT_INLINE void gmt_python_tell_code(struct gmt_python_walk *walk, uint64_t key) {
  uint8_t seen = 1;
  if (bpf_map_lookup_elem(&gmt_python_codes, &key)) return;
  if (bpf_map_update_elem(&gmt_python_codes, &key, &seen, BPF_NOEXIST) == GMT_EEXIST) return;
  gmt_python_put_code(walk, key);
  if (walk->own->lost) bpf_map_delete_elem(&gmt_python_codes, &key);
}
