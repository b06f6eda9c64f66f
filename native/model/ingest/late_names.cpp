#include "model/ingest/late_names.h"

#include "model/ingest/events.h"

namespace gmt::model {

std::vector<LateName> first_names(const State &later, uint64_t until_ns) {
  std::vector<LateName> names;
  later.each_process([&](const ProcessState &process) {
    for (const NameBook::FirstName &first : process.names.first_names()) {
      if (first.time_ns <= until_ns) names.push_back({process.number, first, process.names.texts()[first.text]});
    }
  });
  return names;
}

void add_names(State &earlier, const std::vector<LateName> &names) {
  for (const LateName &name : names) {
    if (!earlier.process(name.process)) continue;
    ProcessState &process = earlier.process_of(name.process);
    TensorBlock *block = process.tensors.find(name.first.address, name.first.device);
    if (block && !block->named && block->time_ns == name.first.time_ns)
      name_block(process, *block, name.first.category, name.text);
  }
}

}  // namespace gmt::model
