/**
 * `coffer access review`: who may reveal how many tokens of which container, and when its keys were
 * last used, for those who review access from time to time.
 *
 * Each rule that reveals is taken away in a simulation: what is then not revealed by it was decided
 * by it. So the counts are those of the vault, and tell no rule that another one comes before.
 * @module
 */
import { CofferError, type Application, type Client } from '../../client/index.ts'
import { sayJson, sayNow } from '../../server/process/system.ts'
import { reviewCharsMax, reviewedApplicationsMax } from '../../limits/operation-limits.ts'
import { answerOf, isApplication, isKeyList, isSimulation } from '../answer-shapes.ts'
import { atMost, makeTextRoom } from '../bounded-walk.ts'
import { withClient, type ReachOptions } from '../reach.ts'
import { makeLongTable, shown } from '../table.ts'

export interface ReviewOptions extends ReachOptions {
  readonly format?: 'table' | 'csv'
}

/** A rule that reveals, or a plain permission, by which some application may see tokens. */
interface ReviewRow {
  readonly application_id: string
  readonly name: string
  readonly permission: string
  /** `rule 0` by its place, or the plain permission. */
  readonly by: string
  readonly container: string
  /** That it decides over now. */
  readonly tokens: number
  /** A day in UTC; null if no key was used, or the caller may not read keys. */
  readonly last_used_on: string | null
}

const columns = [
  'application_id',
  'name',
  'permission',
  'by',
  'container',
  'tokens',
  'last_used_on',
] as const satisfies readonly (keyof ReviewRow)[]

const showing = ['token:read', 'token:search', 'token:use'] as const

type Rule = Application['rules'][number]
type Question = Parameters<Client['access']['simulate']>[0]
type Proposed = Question['proposed']

/** @returns null where the caller lacks `key:read` */
async function lastUseOf({ applications }: Client, id: string): Promise<string | null> {
  try {
    const days = (await answerOf(isKeyList, applications.keys.list(id))).flatMap(
      ({ last_used_on: day }) => day ?? [],
    )
    return days.toSorted().at(-1) ?? null
  } catch (error) {
    if (error instanceof CofferError && error.code === 'forbidden') return null
    throw error
  }
}

/** Returns how many tokens each permission reveals now, and would not with these grants. */
async function lostWith(
  { access }: Client,
  applicationId: string,
  proposed: Proposed,
): Promise<ReadonlyMap<string, number>> {
  const { changes } = await answerOf(
    isSimulation,
    access.simulate({ application_id: applicationId, proposed }),
  )
  const lost = new Map<string, number>()
  for (const { permission, from, count } of changes) {
    if (from === 'reveal') lost.set(permission, (lost.get(permission) ?? 0) + count)
  }
  return lost
}

const withoutRule = ({ permissions, rules }: Application, hidden: Rule): Proposed => ({
  permissions,
  rules: rules.map(rule => (rule === hidden ? { ...rule, transform: 'redact' as const } : rule)),
})

type Share = Pick<ReviewRow, 'permission' | 'by' | 'container' | 'tokens'>

async function* sharesOf(client: Client, application: Application): AsyncGenerator<Share> {
  const { id, permissions, rules } = application
  for (const [at, rule] of rules.entries()) {
    if (rule.transform !== 'reveal') continue
    const lost = await lostWith(client, id, withoutRule(application, rule))
    for (const permission of showing.filter(each => rule.permissions.includes(each))) {
      const { container } = rule
      yield { permission, by: `rule ${at}`, container, tokens: lost.get(permission) ?? 0 }
    }
  }
  if (!permissions.includes('token:use')) return
  const left = permissions.filter(each => each !== 'token:use')
  // An application holds at least one.
  const proposed = { permissions: [...left, 'token:create' as const], rules }
  const lost = await lostWith(client, id, proposed)
  const permission = 'token:use'
  yield { permission, by: permission, container: '/', tokens: lost.get(permission) ?? 0 }
}

async function rowsOf(client: Client, application: Application): Promise<readonly ReviewRow[]> {
  const shares = await Array.fromAsync(sharesOf(client, application))
  if (shares.length === 0) return []
  const { id, name } = application
  const lastUsedOn = await lastUseOf(client, id)
  return shares.map(share => ({
    application_id: id,
    name,
    ...share,
    last_used_on: lastUsedOn,
  }))
}

/**
 * Beginning of what a spreadsheet takes for a formula, also in wide letters. Where its language
 * separates cells by semicolons, it begins one behind each, also within quotes and behind a quote.
 */
const formula = /(^|;["\s]*)(?=[=+\-@＝＋－＠])/g

/** A cell as RFC 4180 has it. */
function cellOf(value: string | number | null): string {
  if (typeof value !== 'string') return String(value ?? '')
  const text = value.replace(formula, "$1'")
  return /[",]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}

function sayRows(rows: readonly ReviewRow[], { format = 'table' }: ReviewOptions): void {
  if (format === 'table') {
    const table = makeLongTable(columns)
    for (const row of rows) table.add({ ...row })
    return table.end()
  }
  sayNow(columns.join())
  for (const row of rows) sayNow(columns.map(name => shown(cellOf(row[name]))).join())
}

/** Needs a key of a manager with `access:explain`, `application:read` and, for days, `key:read`. */
export const reviewAccess = (options: ReviewOptions): Promise<void> =>
  withClient(options, async client => {
    const rows: ReviewRow[] = []
    const noteTexts = makeTextRoom(reviewCharsMax, 'rows')
    const listed = client.applications.list({ type: ['private'] })
    for await (const application of atMost(reviewedApplicationsMax, 'applications', listed)) {
      const known = await answerOf(isApplication, application)
      for (const row of await rowsOf(client, known)) {
        noteTexts(JSON.stringify(row))
        rows.push(row)
      }
    }
    return options.json === true ? sayJson({ rows }) : sayRows(rows, options)
  })
