/**
 * Exceptions that no test can see, each with its reason: mutants that keep every promise of the
 * code. `mutate.ts` fails on an entry that is no longer needed.
 * @module
 */

/** Reason for some mutants of the guards with that text in that file. */
export interface Exception {
  readonly file: string
  readonly guard: string
  readonly what: readonly string[]
  readonly reason: string
}

const expressions = 'src/language/expression'

const types = 'for the type checker: what is no such value fails the condition beside it, too'
const shortCut = 'a short cut: the way around it comes to the same'
const noShift = 'for the type checker: operators of bits take what is missing for 0'
const behindEnd = 'one place behind the end there is nothing, which is none of what is looked for'

/** Mutants that keep every promise of the code. */
export const equivalent: readonly Exception[] = [
  {
    file: 'src/crypto/primitives.ts',
    guard: 'nonce.length !== nonceBytes',
    what: ['false'],
    reason: 'the binding checks it, too; what it checks is not ours to promise',
  },
  {
    file: 'src/crypto/seal.ts',
    guard: 'byte < commitmentAt',
    what: ['boundary <='],
    reason: 'the context is written over that byte',
  },
  {
    file: 'src/crypto/seal.ts',
    guard: 'at < nonceBytes - 1',
    what: ['boundary <='],
    reason: 'the index is written over that byte',
  },
  {
    file: 'src/crypto/seal.ts',
    guard: 'at < commitmentBytes',
    what: ['boundary <='],
    reason: 'beyond the end both are 0',
  },
  {
    file: 'src/crypto/seal.ts',
    guard: 'at < derived.length - keyBytes',
    what: ['boundary <='],
    reason: 'beyond the end both are 0',
  },
  {
    file: 'src/crypto/seal.ts',
    guard: 'at < keyBytes',
    what: ['boundary <='],
    reason: 'a byte beyond the end is not written',
  },
  {
    file: 'src/crypto/seal.ts',
    guard: 'plaintext.length > sealScratchBytes',
    what: ['false', 'boundary >='],
    reason: 'saves the copy of what is long',
  },
  {
    file: 'src/crypto/self-test.ts',
    guard: 'bytes !== undefined',
    what: ['true'],
    reason: 'a part that throws is as wrong as one that gives nothing',
  },
  {
    file: 'src/rules/hidden-digits.ts',
    guard: 'at < digits.length',
    what: ['boundary <='],
    reason: behindEnd,
  },
  {
    file: 'src/rules/mask.ts',
    guard: 'applyMask(mask, data, run)?.masked ?? null',
    what: ['never the fallback'],
    reason: 'undefined shows as little as null, and is printed alike each time',
  },
  {
    file: 'src/rules/mask.ts',
    guard: 'masked = null',
    what: ['no default'],
    reason: 'undefined contains as little as null',
  },
  {
    file: 'src/rules/access.ts',
    guard: 'transform === undefined',
    what: ['false'],
    reason: 'what is no transform has no place among them, which is -1, too',
  },
  {
    file: 'src/rules/access.ts',
    guard: 'rankOf(one) < rankOf(other)',
    what: ['boundary <='],
    reason: 'transforms of one rank are one transform',
  },
  {
    file: 'src/lib/bytes.ts',
    guard: 'bytes[at] ?? 0',
    what: ['never the fallback'],
    reason: noShift,
  },
  {
    file: 'src/lib/bytes.ts',
    guard: 'bytes[at + 1] ?? 0',
    what: ['never the fallback'],
    reason: noShift,
  },
  {
    file: 'src/lib/bytes.ts',
    guard: 'bytes[at + 2] ?? 0',
    what: ['never the fallback'],
    reason: noShift,
  },
  {
    file: 'src/lib/bytes.ts',
    guard: 'bytes[at + 3] ?? 0',
    what: ['never the fallback'],
    reason: noShift,
  },
  {
    file: 'src/lib/bytes.ts',
    guard: 'Buffer.isBuffer(bytes)',
    what: ['false'],
    reason: shortCut,
  },
  {
    file: 'src/lib/bytes.ts',
    guard: 'text.length < length',
    what: ['boundary <='],
    reason: 'digits too many are zeros in front, which are cut off',
  },
  {
    file: 'src/lib/bytes.ts',
    guard: 'index < text.length',
    what: ['boundary <='],
    reason: behindEnd,
  },
  {
    file: 'src/rules/mask-guard.ts',
    guard: 'stepsLeft < 0',
    what: ['boundary <='],
    reason: 'of all steps the last one more or less: then nothing is told, which refuses',
  },
  {
    file: 'src/rules/mask.ts',
    guard: 'places !== undefined && number.length - places.size >= maskHiddenDigitsMin',
    what: ['false'],
    reason: shortCut,
  },
  {
    file: 'src/rules/mask.ts',
    guard: 'number.length - places.size >= maskHiddenDigitsMin',
    what: ['boundary >'],
    reason: shortCut,
  },
  {
    file: 'src/rules/mask-guard.ts',
    guard: 'at < zeros.length',
    what: ['boundary <='],
    reason: behindEnd,
  },
  {
    file: 'src/rules/clear-text.ts',
    guard: 'word.length >= cardNumberDigitsMin',
    what: ['true'],
    reason: shortCut,
  },
  {
    file: 'src/rules/clear-text.ts',
    guard: 'countDigits(text) < cardNumberDigitsMin',
    what: ['false'],
    reason: shortCut,
  },
  {
    file: 'src/rules/clear-text.ts',
    guard: 'digits.length < cardNumberDigitsMax',
    what: ['true', 'boundary <='],
    reason: 'bounds the work: more digits are no card number',
  },
  ...['count > walkedCharsMax && isPlain(text)', 'isPlain(text)'].map(guard => ({
    file: `${expressions}/run.ts`,
    guard,
    what: ['false'],
    reason: shortCut,
  })),
  {
    file: `${expressions}/run.ts`,
    guard: 'index < text.length',
    what: ['boundary <='],
    reason: behindEnd,
  },
  {
    file: `${expressions}/compile.ts`,
    guard: 'output.filters.length === 0',
    what: ['false'],
    reason: 'a part of the data is never larger than the data: the check always passes',
  },
  {
    file: `${expressions}/filters/lists.ts`,
    guard: "typeof item === 'string'",
    what: ['false'],
    reason: 'a Set tells texts apart as well; it is not used because it hashes them without a seed',
  },
  {
    file: `${expressions}/json-path/parse.ts`,
    guard: "selectors.every(({ kind }) => kind === 'name' || kind === 'index')",
    what: ['some for every'],
    reason: 'there is one selector here',
  },
  {
    file: 'src/lib/json/merge-patch.ts',
    guard: 'isHidden = false',
    what: ['no default'],
    reason: 'undefined is as false',
  },
  {
    file: `${expressions}/filters/card.ts`,
    guard: 'first + last >= digits',
    what: ['boundary >'],
    reason: 'where both ends meet, `hideMiddle` has nothing to hide, and hides all',
  },
  {
    file: `${expressions}/filters/date.ts`,
    guard: 'conversion.width ?? 0',
    what: ['never the fallback'],
    reason: 'padding to no width is padding to 0',
  },
  ...["directive = ''", "flags = ''", "width = ''", "name = ''"].map(guard => ({
    file: `${expressions}/filters/date.ts`,
    guard,
    what: ['no default'],
    reason: 'for the type checker: no conversion has the name undefined either',
  })),
  {
    file: `${expressions}/filters/definition.ts`,
    guard: "operand.kind === 'literal'",
    what: ['true'],
    reason: types,
  },
  {
    file: `${expressions}/filters/html.ts`,
    guard: 'unclosed.has(opener)',
    what: ['false'],
    reason: 'keeps the work linear: the search would fail again',
  },
  {
    file: `${expressions}/filters/mask.ts`,
    guard: 'start < end',
    what: ['boundary <='],
    reason: shortCut,
  },
  {
    file: `${expressions}/filters/math.ts`,
    guard: 'scaled <= Number.MAX_SAFE_INTEGER',
    what: ['boundary <'],
    reason: 'a whole number stays as it is when it is rounded',
  },
  {
    file: `${expressions}/filters/order.ts`,
    guard: 'a.value === b.value',
    what: ['false'],
    reason: 'the sort of this engine asks only whether the answer is below zero',
  },
  {
    file: `${expressions}/filters/order.ts`,
    guard: 'a.value < b.value',
    what: ['boundary <='],
    reason: 'equal values have been told before',
  },
  {
    file: `${expressions}/filters/mask.ts`,
    guard: 'text.length >= length * 2',
    what: ['false', 'boundary >'],
    reason: shortCut,
  },
  {
    file: `${expressions}/json-path/evaluate.ts`,
    guard: 'isJsonObject(a)',
    what: ['true'],
    reason: types,
  },
  {
    file: `${expressions}/json-path/evaluate.ts`,
    guard: 'codeA < codeB',
    what: ['boundary <='],
    reason: 'equal units have been passed over before',
  },
  {
    file: `${expressions}/json-path/evaluate.ts`,
    guard: 'step > 0',
    what: ['boundary >='],
    reason: 'a step of 0 has been answered before',
  },
  {
    file: `${expressions}/numbers.ts`,
    guard: "typeof a === 'number' && typeof b === 'number'",
    what: ['false'],
    reason: shortCut,
  },
  {
    file: `${expressions}/operand.ts`,
    guard: "typeof step === 'number'",
    what: ['true'],
    reason: types,
  },
  {
    file: `${expressions}/parse.ts`,
    guard: 'reader.position < reader.text.length',
    what: ['boundary <='],
    reason: behindEnd,
  },
  {
    file: `${expressions}/parse.ts`,
    guard: "operand.kind !== 'literal'",
    what: ['false'],
    reason: types,
  },
  {
    file: `${expressions}/run.ts`,
    guard: 'first === undefined',
    what: ['false'],
    reason: shortCut,
  },
  {
    file: `${expressions}/run.ts`,
    guard: 'steps.length === 1',
    what: ['false'],
    reason: shortCut,
  },
  {
    file: `${expressions}/scan.ts`,
    guard: 'cursor.position >= cursor.text.length',
    what: ['boundary >'],
    reason: 'one place behind the end the same refusal follows',
  },
  {
    file: `${expressions}/run.ts`,
    guard: "typeof value === 'string' && value.length * 3 <= tokenDataBytesMax",
    what: ['false'],
    reason: shortCut,
  },
  {
    file: `${expressions}/run.ts`,
    guard: 'value.length * 3 <= tokenDataBytesMax',
    what: ['boundary <'],
    reason: shortCut,
  },
  {
    file: `${expressions}/run.ts`,
    guard: 'run.stepsLeft >= printingStepsMax',
    what: ['true', 'boundary >'],
    reason: 'saves printing what cannot be paid for; it is refused when it is paid, too',
  },
  {
    file: `${expressions}/run.ts`,
    guard: 'measureJson(value, affordable) > affordable',
    what: ['false'],
    reason: 'as above',
  },
]
