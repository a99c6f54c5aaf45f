/**
 * Marks: texts that stand for secrets. All have one core, which nothing else has, so that one
 * search finds any of them; the number behind it tells which one it was.
 * @module
 */

/** Letters and digits alone, so that every field takes it; too long to come by chance. */
export const core = 'qzx7kvw9m3hj'

let count = 0

export const mark = (): string => `${core}${(count += 1)}`

/** What has a form of its own, by a name that may be printed. */
export const numbers: Readonly<Record<string, string>> = {
  'a card number': '4242424242424242',
  'a card number of 19 digits': '5589092000000000006',
  'a card number with spaces': '4000 0566 5566 5556',
  'a bank account': '90210774583211',
  'a social security number': '471-03-8826',
  'an employer id': '47-5590226',
}

export const numberOf = (name: string): string => {
  const found = numbers[name]
  if (found === undefined) throw new Error(`no number: ${name}`)
  return found
}
