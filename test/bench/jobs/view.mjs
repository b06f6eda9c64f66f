// From a job's folder to its view, in this process: node test/bench/jobs/view.mjs FOLDER. Prints the seconds and the memory of each part as JSON.
import { bundled } from '../bundled.mjs';

const contents = `export { readSummaries } from './extension/capture/traces/jobFolder';
export { jobView } from './extension/analysis/job/jobView';
export { jobDifferences } from './extension/analysis/job/differences';`;
const { jobDifferences, jobView, readSummaries } = await bundled('jobView', contents);

const told = {};
function timed(name, work) {
  const [before, cpu] = [performance.now(), process.cpuUsage()];
  const result = work();
  const { user, system } = process.cpuUsage(cpu);
  told[name] = { seconds: (performance.now() - before) / 1e3, cpu: (user + system) / 1e6 };
  return result;
}
const { found } = timed('read', () => readSummaries(process.argv[2]));
const view = timed('view', () => jobView(found, Date.now()));
timed('findings', () => jobDifferences(found.map(({ summary }) => summary)));
timed('readAgain', () => readSummaries(process.argv[2], found));
console.log(JSON.stringify({ ...told, ranks: view.ranks.length, rssMb: process.resourceUsage().maxRSS / 1024 }));
