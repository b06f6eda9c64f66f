import assert from 'node:assert/strict';
import { test } from 'node:test';
import { redactPage } from '../../../extension/html/redact';
import { NO_SESSION } from '../../../extension/protocol/requests/messages';

test('what keeps the memory of a peak has no name of the program', () => {
  const path = 'train().secret_total (its graph)';
  const buildUp = [{ sentence: `Most of it is held by ${path}.`, place: null, path }];
  const { answers } = redactPage({ session: NO_SESSION, answers: new Map([['peakCard []', { buildUp }]]) });
  assert.doesNotMatch(JSON.stringify([...answers]), /secret/);
});
