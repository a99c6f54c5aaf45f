/**
 * A file as people export it: a byte order mark, CRLF, quotes, blank and broken rows.
 * @module
 */

/** Appends the check digit. */
function withCheckDigit(digits: string): string {
  const sum = [...digits].toReversed().reduce((total, digit, at) => {
    const twice = at % 2 === 0 ? 2 * Number(digit) : Number(digit)
    return total + (twice > 9 ? twice - 9 : twice)
  }, 0)
  return digits + String((10 - (sum % 10)) % 10)
}

const cardNumber = (at: number): string => withCheckDigit(`424242${String(at).padStart(9, '0')}`)

export interface MessyCsv {
  readonly text: string
  /** Good rows by customer. */
  readonly good: ReadonlyMap<string, { readonly number: string; readonly name: string }>
  /** Lines that cannot become tokens. */
  readonly badLines: readonly number[]
  readonly blankCount: number
}

const badNumber = '4242424242424241'

/** Makes a file in which each ten rows have one of each kind of trouble. */
export function makeMessyCsv(count: number): MessyCsv {
  const rows = ['\ufeffCustomer;Full Name;Card No;Expiry']
  const good = new Map<string, { number: string; name: string }>()
  const badLines: number[] = []
  let line = 2
  let blankCount = 0
  const put = (row: string): void => {
    rows.push(row)
    line += row.split('\n').length
  }
  const putBad = (row: string): void => {
    badLines.push(line)
    put(row)
  }
  const putGood = (customer: string, name: string, number: string): void => {
    good.set(customer, { number, name })
    put(`${customer};"${name.replaceAll('"', '""')}";${number};12/2031`)
  }
  for (let at = 0; at < count; at += 1) {
    const [customer, number] = [`customer-${at}`, cardNumber(at)]
    if (at % 10 === 1) putBad(`${customer};wrong digit;${badNumber};12/2031`)
    else if (at % 10 === 2) putBad(`${customer};too few`)
    else if (at % 10 === 3) putBad(`${customer};"never closed;${number};12/2031`)
    else if (at % 10 === 4) putGood(customer, 'of "two"\nlines; and more', number)
    else putGood(customer, 'Müller', number)
    if (at % 10 !== 5) continue
    put(at % 20 === 5 ? '' : ' ; ;;')
    blankCount += 1
  }
  return { text: rows.join('\r\n'), good, badLines, blankCount }
}

/** Maps its rows to cards. @param id true if customers are ids */
export const messyMap = (id: boolean): string =>
  JSON.stringify({
    type: 'card',
    ...(id ? { id: '{{ data.Customer }}' } : {}),
    data: {
      number: '{{ data["Card No"] }}',
      expiration_month: '{{ data.Expiry | split: "/" | first }}',
      holder: '{{ data["Full Name"] }}',
    },
    metadata: { customer: '{{ data.Customer }}' },
  })
