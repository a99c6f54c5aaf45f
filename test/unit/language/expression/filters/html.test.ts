import { describe, expect, test } from 'bun:test'
import { expectDataRefusal, expectParseRefusal, filter } from '../../../../support/expressions.ts'
import { canary } from '../../../../support/refusal.ts'

describe('filters for pages and URLs', () => {
  // proves C6.38
  test.each([
    [`<a href="x">'&'</a>`, 'escape', '&lt;a href=&#34;x&#34;&gt;&#39;&amp;&#39;&lt;/a&gt;'],
    ['&amp;', 'escape', '&amp;amp;'],
    ['plain', 'escape', 'plain'],
    ['1 < 2 &amp; 3 &lt; 4', 'escape_once', '1 &lt; 2 &amp; 3 &lt; 4'],
    ['&amp;amp;', 'escape_once', '&amp;amp;'],
    ['a\nb\r\nc\rd', 'newline_to_br', 'a<br />\nb<br />\nc\rd'],
    ['a\nb\r\nc\rd', 'strip_newlines', 'abc\rd'],
    ['<p class="x">a</p> <b>b</b>', 'strip_html', 'a b'],
    ['a<script>x<b></script>b<style>y</style>c<!-- > -->d', 'strip_html', 'abcd'],
    ['<b>a</b><script>x</script>c', 'strip_html', 'ac'],
    ['<b>a</b><style>x</style>c<!-- y -->d', 'strip_html', 'acd'],
    ['a < b', 'strip_html', 'a < b'],
    ['<script>never closed', 'strip_html', 'never closed'],
    ['<!-- never closed <b>x</b>', 'strip_html', 'x'],
    ['a <b', 'strip_html', 'a <b'],
    ['a b&c/é+', 'url_encode', 'a+b%26c%2F%C3%A9%2B'],
    ['a+b%26c%2F%C3%A9%2B', 'url_decode', 'a b&c/é+'],
    [null, 'escape', ''],
    [null, 'url_encode', ''],
  ])('%j | %s is %j', (data, filters, output) => {
    expect(filter(filters, data)).toBe(output)
  })

  test('strip_html takes many openers that nothing closes', () => {
    expect(filter('strip_html | size', '<script'.repeat(20_000))).toBe(140_000)
    expect(filter('strip_html | size', `${'<!--<style<script'.repeat(5_000)}>`)).toBe(0)
  })

  test.each(['%', '%zz', '%ff', '%C3', `${canary}%`])('url_decode fails on %j', data => {
    expectDataRefusal('url_decode', data)
  })

  test.each(['escape', 'escape_once', 'newline_to_br', 'strip_html', 'url_encode', 'url_decode'])(
    '%s takes no argument',
    name => {
      expectParseRefusal(`{{ data | ${name}: 1 }}`)
    },
  )
})
