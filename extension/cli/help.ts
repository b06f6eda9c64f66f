import type { Verb } from './arguments';

const ALL = `GPU Memory Trace: every GPU allocation of a program, with its Python line and thread.

  gpu-memtrace run [options] -- CMD...     run a program and watch its GPU memory
  gpu-memtrace report FILE [options]       show a saved trace
  gpu-memtrace doctor [options]            check what this machine can record
  gpu-memtrace --version

"gpu-memtrace run --help" and so on tell the options.
`;

const RUN = `gpu-memtrace run [options] -- CMD...

Runs CMD with its own stdin, stdout, stderr and signals. A table of what is alive goes to stderr while it runs, the last
one when it ends.

  --simulate-gpu           use the simulated GPU: no GPU and no driver are needed
  -o, --output FILE        save the trace there (else it is kept in the cache, the newest 10; its path is the last line)
  --format table|json|none json: one document at the end, no table; none: no output of ours (default: table)
  --report FILE            write the JSON document to FILE (with --format json: instead of stdout)
  --interval TIME          time between tables, such as 2s or 500ms (default: 2s)
  --fail-on-leak           exit with 3 when a leak was found (leaks are not judged yet)
  --backend auto|inject    how to record (default: auto)

Exit status: CMD's own, 128 + signal when a signal ended it; 125 the tracer could not start it, 126 CMD cannot be
executed, 127 CMD was not found; 2 wrong options.
`;

const REPORT = `gpu-memtrace report FILE|FOLDER [options]

Shows a saved trace (*.gputrace), or the folder of one that is being recorded.

  --format table|json      (default: table)
  --group-by site|line|thread|process|device
                           sums by these (default: line)

Exit status: 0; 1 the trace cannot be read; 2 wrong options.
`;

const DOCTOR = `gpu-memtrace doctor [options]

Checks what this machine can record, and says how to mend what is missing.

  --format table|json      (default: table)

Exit status: 0 recording is possible, on a GPU or on the simulated one; 1 it is not; 2 wrong options.
`;

const ATTACH = `gpu-memtrace attach is not there yet: start the program with "gpu-memtrace run -- CMD".
`;

export function helpText(about: Verb | null): string {
  switch (about) {
    case null:
      return ALL;
    case 'run':
      return RUN;
    case 'report':
      return REPORT;
    case 'doctor':
      return DOCTOR;
    case 'attach':
      return ATTACH;
  }
}
