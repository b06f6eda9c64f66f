# Writes the agent's Python sources into a header: cmake -DOUT=… -DFILES=a.py;b.py -P agent/embed.cmake. The first file is the part
# that is run when the agent starts, the others are run when they are needed.
set(entries "")
foreach(file ${FILES})
  get_filename_component(name ${file} NAME_WE)
  file(READ ${file} text)
  string(APPEND entries "    {\"${name}\", \"<gpu-memtrace>/${name}.py\", R\"GMT(${text})GMT\"},\n")
endforeach()
file(WRITE ${OUT} "#pragma once
namespace gmt::inject {
struct AgentSource {
  const char *name, *file, *text;
};
inline constexpr AgentSource kAgentSources[] = {
${entries}};
}  // namespace gmt::inject
")
