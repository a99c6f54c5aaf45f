/**
 * All filters by name; none is added at run time.
 *
 * Source: contract section 6, its table.
 * @module
 */
import { aliasCard, aliasPreserveFormat, aliasPreserveLength } from './alias-filters.ts'
import { cardBin, cardExp, cardMask } from './card-filters.ts'
import * as math from './math-filters.ts'
import { stringify, toBoolean, toNumber, toText } from './math-filters.ts'
import { date } from './date-filters.ts'
import type { FilterDefinition } from './definition.ts'
import { hmac, toBase16, toBase64 } from './digest-filters.ts'
import * as html from './html-filters.ts'
import { jsonPath } from './json-filters.ts'
import * as lists from './list-filters.ts'
import { last4, reveal, revealLast, padLeft, padRight } from './mask-filters.ts'
import { initials, phoneMask } from './personal-filters.ts'
import { sort, sortNatural } from './order.ts'
import * as text from './text-filters.ts'

const vaultFilters: Readonly<Record<string, FilterDefinition>> = {
  alias_card: aliasCard,
  alias_preserve_format: aliasPreserveFormat,
  alias_preserve_length: aliasPreserveLength,
  card_bin: cardBin,
  card_exp: cardExp,
  card_mask: cardMask,
  hmac,
  initials,
  json: jsonPath,
  json_stringify: stringify,
  last4,
  pad_left: padLeft,
  pad_right: padRight,
  phone_mask: phoneMask,
  reveal,
  reveal_last: revealLast,
  stringify,
  to_base16: toBase16,
  to_base64: toBase64,
  to_boolean: toBoolean,
  to_number: toNumber,
  to_string: toText,
}

const liquidFilters: Readonly<Record<string, FilterDefinition>> = {
  abs: math.abs,
  append: text.append,
  at_least: math.atLeast,
  at_most: math.atMost,
  capitalize: text.capitalize,
  ceil: math.ceil,
  compact: lists.compact,
  concat: lists.concat,
  date,
  default: lists.defaultTo,
  divided_by: math.dividedBy,
  downcase: text.downcase,
  escape: html.escape,
  escape_once: html.escapeOnce,
  first: lists.first,
  floor: math.floor,
  join: lists.join,
  last: lists.last,
  lstrip: text.lstrip,
  map: lists.map,
  minus: math.minus,
  modulo: math.modulo,
  newline_to_br: html.newlineToBr,
  plus: math.plus,
  prepend: text.prepend,
  remove: text.remove,
  remove_first: text.removeFirst,
  replace: text.replace,
  replace_first: text.replaceFirst,
  reverse: lists.reverse,
  round: math.round,
  rstrip: text.rstrip,
  size: lists.size,
  slice: lists.slice,
  sort,
  sort_natural: sortNatural,
  split: text.split,
  strip: text.strip,
  strip_html: html.stripHtml,
  strip_newlines: html.stripNewlines,
  times: math.times,
  truncate: text.truncate,
  truncatewords: text.truncateWords,
  uniq: lists.uniq,
  upcase: text.upcase,
  url_decode: html.urlDecode,
  url_encode: html.urlEncode,
  where: lists.where,
}

const filters: ReadonlyMap<string, FilterDefinition> = new Map([
  ...Object.entries(vaultFilters),
  ...Object.entries(liquidFilters),
])

/** All names, sorted; for documentation and tests. */
export const filterNames: readonly string[] = [...filters.keys()].sort()

export const findFilter = (name: string): FilterDefinition | undefined => filters.get(name)
