/**
 * Marks: texts that stand for secrets. All share one core, found nowhere else, so that one search
 * finds any of them; the number after it identifies the mark.
 * @module
 */

/** Only letters and digits, so that every field accepts it; too long to occur by chance. */
export const core = 'qzx7kvw9m3hj'

let count = 0

export const mark = (): string => `${core}${(count += 1)}`

/** Secrets that need a form of their own, by a name that may be printed. */
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
