import type { TraceSource } from '../../../protocol/trace';
import { placeOf } from '../../sites/site';
import type { JudgedSite } from '../../sites/states';
import { placeText } from '../../words';

/** What each finding on one site has. */
export function ofSite({ verdict, steps }: JudgedSite, kind: string, source: TraceSource) {
  const { process, layer, site, because } = verdict;
  const place = placeOf(source, site);
  const places = place === null ? [] : [place];
  const id = `${kind} ${process} ${placeText(place)}`;
  return { id, process, device: steps.device, layer, place, places, sites: [site], evidence: [because] };
}
