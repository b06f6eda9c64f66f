// Whether the tracer can attach to running programs here, by its own self-test.
import { execFile } from 'node:child_process';
import { release } from 'node:os';
import { commandLine, explain } from './attachTarget';
import { missing, ok, warning, type Check } from './check';
import { capabilitiesSuffice } from './privileges';
import { joinWords } from '../launch/shellWords';
import { tracerMissing, tracerProgram } from '../launch/tracer';
import { parseSelfTest, type SelfTest, type TracerProblem } from '../launch/tracerProtocol';

export interface AttachDiagnosis {
  possible: boolean;
  checks: Check[];
  /** The tracer's own words, null where it is not there or does not run. */
  selfTest: SelfTest | null;
}

const SELF_TEST_LIMIT_MS = 15_000;

export async function diagnoseAttach(dist: string): Promise<AttachDiagnosis> {
  const program = tracerProgram(dist);
  const absent = tracerMissing(dist);
  if (absent !== null) {
    const fix = 'reinstall GPU Memory Trace, or install clang, bpftool and libbpf and build it with: npm run build';
    const check =
      process.arch === 'arm64'
        ? missing('tracer', 'attaching works on x86-64 only', NO_HELP)
        : missing('tracer', `${program} does not exist`, fix);
    return { possible: false, checks: [check], selfTest: null };
  }
  const { passed, test, problem } = await runSelfTest(program);
  if (test === null) {
    const refused = problem.code === 'no-privilege';
    const check = refused ? rights(dist, problem) : missing('tracer', problem.message, 'reinstall GPU Memory Trace');
    return { possible: false, checks: [check], selfTest: null };
  }
  const checks = [ok('tracer', program), ...kernelChecks(test)];
  if (test.privileged) checks.push(ok('permissions', 'sufficient'));
  else checks.push(rights(dist, { type: 'error', code: 'no-privilege', message: test.message }));
  if (!passed && checks.every(check => check.state === 'ok')) {
    checks.push(missing('self-test', test.message || 'a probe was placed and did not fire', NO_HELP));
  }
  return { possible: passed, checks, selfTest: test };
}

const NO_HELP = 'start programs with the tracer instead (gpu-memtrace run)';

/** Without the rights the tracer cannot try what else there is. */
function kernelChecks(test: SelfTest): Check[] {
  const [kernel, btf] = [`Linux ${release()}`, '/sys/kernel/btf/vmlinux'];
  const absent = (name: string, what: string, fix: string): Check =>
    test.privileged
      ? missing(name, `${kernel} ${what}`, fix)
      : warning(name, 'unknown without the required privileges', '');
  return [
    test.bpf
      ? ok('BPF', kernel)
      : absent('BPF', 'does not allow BPF programs', `use a kernel with CONFIG_BPF_SYSCALL, or ${NO_HELP}`),
    test.btf
      ? ok('BTF', btf)
      : missing('BTF', `${kernel} has none (${btf})`, `use a kernel with CONFIG_DEBUG_INFO_BTF, or ${NO_HELP}`),
    probes(test, absent),
  ];
}

function probes(test: SelfTest, absent: (name: string, what: string, fix: string) => Check): Check {
  if (test.uprobeMulti) return ok('probes', 'uprobe_multi');
  const slow = 'perf: they need root, and detaching takes seconds';
  if (test.perfUprobe) return warning('probes', slow, 'use Linux 6.6 or newer for uprobe_multi');
  return absent('probes', 'has no uprobes', `use a kernel with CONFIG_UPROBE_EVENTS, or ${NO_HELP}`);
}

function rights(dist: string, problem: TracerProblem): Check {
  const words = [...commandLine(dist), 'attach', 'PID'];
  const { sentence, command } = explain({ ...problem, code: 'no-privilege' }, dist, words);
  const detail = capabilitiesSuffice(release()) ? 'CAP_BPF and CAP_PERFMON are missing' : 'CAP_SYS_ADMIN is missing';
  if (command === null) return missing('permissions', detail, sentence);
  return { ...missing('permissions', detail, `${sentence} ${command}`), command };
}

function runSelfTest(program: string): Promise<{ passed: boolean; test: SelfTest | null; problem: TracerProblem }> {
  return new Promise(done => {
    execFile(program, ['self-test'], { timeout: SELF_TEST_LIMIT_MS }, (error, stdout, stderr) => {
      const code = error === null || error.code !== 'EPERM' ? 'failed' : 'no-privilege';
      const last = stderr.trim().split('\n').at(-1) ?? '';
      const message = `The self-test of ${joinWords([program])} failed${last === '' ? '' : `: ${last}`}`;
      done({ passed: error === null, test: parseSelfTest(stdout), problem: { type: 'error', code, message } });
    });
  });
}
