import assert from 'node:assert/strict';
import { test } from 'node:test';
import { escapeXml } from '../../../extension/text/xml';
import { pageHtml } from '../../../extension/views/page/html';

const html = pageHtml({
  nonce: 'N0NCE',
  cspSource: 'https://own',
  language: 'en',
  title: 'a "b" <c>',
  script: 'https://own/explorer.js?a&b',
  styles: ['https://own/explorer.css'],
  strings: { 'Open "{0}"': 'Öffne <{0}>' },
});

test('the policy allows nothing but the extension’s own files and the one script', () => {
  const policy = /Content-Security-Policy" content="([^"]*)"/.exec(html)?.[1];
  assert.equal(
    policy,
    "default-src 'none'; img-src https://own data:; font-src https://own; " +
      "style-src https://own 'nonce-N0NCE'; script-src 'nonce-N0NCE'",
  );
  assert.doesNotMatch(html, /unsafe|onload|onclick/);
  assert.equal(html.match(/<script/g)?.length, 1);
  assert.match(html, /<script nonce="N0NCE" src="https:\/\/own\/explorer\.js\?a&amp;b">/);
});

test('texts are escaped', () => {
  assert.match(html, /<title>a &quot;b&quot; &lt;c&gt;<\/title>/);
  assert.equal(escapeXml('<script>"&😀\u0001'), '&lt;script&gt;&quot;&amp;😀\uFFFD');
});

test('translations travel as data', () => {
  const data = /data-strings="([^"]*)"/.exec(html)?.[1] ?? '';
  const read = data.replaceAll('&quot;', '"').replaceAll('&lt;', '<').replaceAll('&gt;', '>');
  assert.deepEqual(JSON.parse(read), { 'Open "{0}"': 'Öffne <{0}>' });
});
