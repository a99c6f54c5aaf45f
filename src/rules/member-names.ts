/**
 * Names in card and bank data that mean a member which the type names otherwise.
 *
 * Under a wrong name a number or code would escape the checks, the default mask and the end of the
 * code's life, so it is refused, and the right name given. All other members are the caller's own.
 * Source: contract section 5.
 * @module
 */
import { addFault, throwFaults, type Faults } from '../lib/errors.ts'
import { isJsonObject, type Json } from '../lib/json/json.ts'
import { comparedNamesMax } from '../limits/limits.ts'
import { didYouMean, editsOf, isNear } from '../lib/spelling.ts'
import { keptFor } from '../lib/maps.ts'

interface MemberNames {
  readonly known: readonly string[]
  /** Common other names, without case and separators, by the known name. */
  readonly usual: Readonly<Record<string, readonly string[]>>
}

const codeNames =
  'cvv cvv2 cvc2 cvn cvn2 cid csc ccv cvvcode cvccode cardcvc cardcvv cardcode ' +
  'securitycode cardsecuritycode verificationcode cardverificationcode ' +
  'verificationvalue cardverificationvalue'

const card: MemberNames = {
  known: ['number', 'expiration_month', 'expiration_year', 'cvc'],
  usual: {
    number: 'pan cardnumber cardno ccnumber ccnum cardnum primaryaccountnumber'.split(' '),
    expiration_month: (
      'expmonth expirymonth expiresmonth month expiry expires expiration exp expdate expirydate ' +
      'expirationdate'
    ).split(' '),
    expiration_year: 'expyear expiryyear expiresyear year'.split(' '),
    cvc: codeNames.split(' '),
  },
}

const bank: MemberNames = {
  known: ['routing_number', 'account_number'],
  usual: {
    routing_number: 'routing routingno aba abanumber abarouting rtn'.split(' '),
    account_number: 'account accountno acct acctno acctnumber accountnum bankaccount'.split(' '),
  },
}

const namesByType: ReadonlyMap<string, MemberNames> = new Map([
  ['card', card],
  ['bank', bank],
])

/** Removes case and separators: clients write `expMonth`, `exp-month` and `EXP_MONTH`. */
const squash = (name: string): string => name.toLowerCase().replaceAll(/[^a-z0-9]/g, '')

interface Squashed {
  /** The intended name, by squashed form. */
  readonly meant: ReadonlyMap<string, string>
  /** Squashed forms of the known names, for finding misspellings. */
  readonly spelled: readonly (readonly [squashed: string, known: string])[]
  readonly charsMax: number
}

const squashedOf = keptFor(({ known, usual }: MemberNames): Squashed => {
  const spelled = known.map(name => [squash(name), name] as const)
  const others = Object.entries(usual).flatMap(([name, all]) =>
    all.map(each => [each, name] as const),
  )
  const meant = new Map([...spelled, ...others])
  const longest = Math.max(...Array.from(meant.keys(), name => name.length))
  return { meant, spelled, charsMax: 2 * longest }
})

function findMeant(given: string, names: Squashed, isCompared: boolean): string | undefined {
  if (given.length > names.charsMax) return undefined
  const name = squash(given)
  const meant = names.meant.get(name)
  if (meant !== undefined || !isCompared) return meant
  return names.spelled.find(([squashed]) => isNear(name, squashed, editsOf(squashed)))?.[1]
}

/**
 * @param data of a token of that type, or a patch for it, in which null removes a member
 * @param at   path of the data
 * @throws ApiError `invalid_request` that gives the intended names, none of those received
 */
export function assertMemberNames(type: string, data: Json, at: string): void {
  const names = namesByType.get(type)
  if (names === undefined || !isJsonObject(data)) return
  const squashed = squashedOf(names)
  const faults: Faults = new Map()
  let compared = 0
  for (const [given, value] of data) {
    if (value === null || names.known.includes(given)) continue
    compared += 1
    const meant = findMeant(given, squashed, compared <= comparedNamesMax)
    if (meant === undefined) continue
    const place = `${at}.${meant}`
    if (!faults.has(place)) addFault(faults, place, `unknown member: ${didYouMean(meant)}`)
  }
  throwFaults(faults)
}
