/**
 * Table of filters. Source: contract section 6, its table.
 * @module
 */
import { expect, test } from 'bun:test'
import {
  filterNames,
  findFilter,
} from '../../../../../src/language/expression/filters/filter-table.ts'

const own = `
last4 reveal_last reveal card_mask card_bin card_exp alias_card alias_preserve_format
alias_preserve_length json stringify json_stringify pad_left pad_right to_string to_number
to_boolean hmac to_base64 to_base16 phone_mask initials`

const standard = `
abs append at_least at_most capitalize ceil compact concat date default divided_by downcase escape
escape_once first floor join last lstrip map minus modulo newline_to_br plus prepend remove
remove_first replace replace_first reverse round rstrip size slice sort sort_natural split strip
strip_html strip_newlines times truncate truncatewords uniq upcase url_decode url_encode where`

const namesOf = (text: string) => text.trim().split(/\s+/)

// proves C6.38
test('the filters are those of the contract, and no others', () => {
  const names = [...namesOf(own), ...namesOf(standard)]
  expect(filterNames).toEqual(names.toSorted())
  for (const name of names) expect(findFilter(name)).toBeDefined()
  for (const name of ['', 'raw', 'constructor', '__proto__', 'Last4', 'last4 ']) {
    expect(findFilter(name)).toBeUndefined()
  }
})
