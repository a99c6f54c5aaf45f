/**
 * The state of the vault: what needs somebody, the last hour as plots that move, its keys and its
 * backups.
 * @module
 */
import { useEffect } from 'preact/hooks'
import type { Status, StatusHistory } from '../../client/interface.ts'
import { known, useAnswer } from './asked.ts'
import { Facts } from './facts.tsx'
import { printBytes, printCount, printMs, printRate, printSpan } from './figures.ts'
import { Instant } from './instant.tsx'
import { refusalsMax, statusMs } from './limits.ts'
import { Answer } from './notices.tsx'
import { every } from './platform.ts'
import { Plot, type Series } from './plot.tsx'
import { Reason } from './reason.tsx'

type Samples = StatusHistory['samples']
type Sample = Samples[number]

const seriesOf = (
  samples: Samples,
  name: string,
  tone: Series['tone'],
  read: (sample: Sample) => number | undefined,
): Series => ({ name, tone, values: samples.map(read) })

const perSecond =
  (member: 'answered' | 'refused' | 'failed') =>
  ({ answers, seconds }: Sample): number =>
    seconds > 0 ? answers[member] / seconds : 0

/** Plots of levels: title, member, name of its line, and how it is printed. */
const levels = [
  ['Rows not in the index yet', 'unfolded_rows', 'rows; searches find them', printCount],
  ['Expired rows still there', 'sweep_lag_seconds', 'oldest', printSpan],
  ['Audit log not signed yet', 'unsigned_entries', 'entries', printCount],
  ['Audit log', 'log_bytes', 'takes', printBytes],
  ['Vault file', 'file_bytes', 'takes', printBytes],
  ['Room on its disk', 'disk_free_bytes', 'left', printBytes],
] as const

function Plots({ samples }: { readonly samples: Samples }) {
  const seconds = samples.reduce((sum, sample) => sum + sample.seconds, 0)
  const of = (...rest: [string, Series['tone'], (sample: Sample) => number | undefined]) =>
    seriesOf(samples, ...rest)
  const present = levels.filter(([, member]) =>
    samples.some(each => each.levels[member] !== undefined),
  )
  return (
    <div class="plots">
      <Plot
        title="Answers"
        seconds={seconds}
        print={printRate}
        series={[
          of('answered', 'good', perSecond('answered')),
          of('refused', 'caution', perSecond('refused')),
          of('failed', 'wrong', perSecond('failed')),
        ]}
      />
      <Plot
        title="Time of an answer"
        seconds={seconds}
        print={printMs}
        series={[
          of('50 % within', 'accent', ({ answers }) => answers.p50_ms),
          of('99 % within', 'caution', ({ answers }) => answers.p99_ms),
        ]}
      />
      {present.map(([title, member, name, print]) => (
        <Plot
          key={member}
          title={title}
          seconds={seconds}
          print={print}
          series={[of(name, 'accent', sample => sample.levels[member])]}
        />
      ))}
    </div>
  )
}

/** Failing checks and findings, the worst first. */
function Attention({ failing, findings }: Pick<Status, 'failing' | 'findings'>) {
  if (failing.length + findings.length === 0) return null
  return (
    <section aria-labelledby="attention">
      <h2 id="attention">What to look at</h2>
      <ul class="items findings">
        {failing.map(({ level, check, text }) => (
          <li key={check} class={level}>
            <strong>{check}:</strong> {text}
          </li>
        ))}
        {findings.map(({ level, about, text }) => (
          <li key={about + text} class={level}>
            <strong>{about}:</strong> {text}
          </li>
        ))}
      </ul>
    </section>
  )
}

const keySources: Readonly<Record<NonNullable<Status['keys']>['source'], string>> = {
  file: 'a file',
  credential: 'a credential of its unit',
  environment: 'the environment',
  passphrase: 'a passphrase',
  data_folder: 'the data folder',
  shares: 'shares of several people',
  memory: 'memory alone',
}

function backupText({ backups }: Status): string {
  if (backups === undefined) return 'this server makes none'
  const every = `one every ${printSpan(backups.every_seconds)}, to a ${backups.to}`
  return backups.age_seconds === undefined
    ? `none yet; ${every}`
    : `${printSpan(backups.age_seconds)} old; ${every}`
}

const KeysAndBackups = ({ of }: { readonly of: Status }) => (
  <section aria-labelledby="keys">
    <h2 id="keys">Keys and backups</h2>
    <Facts
      of={[
        ['Newest backup', backupText(of)],
        ['Backups failed', of.backups !== undefined && String(of.backups.failed)],
        ['Master key from', of.keys && keySources[of.keys.source]],
        [
          'Age of the master key',
          of.keys?.master_key_age_seconds !== undefined &&
            printSpan(of.keys.master_key_age_seconds),
        ],
        ['Data keys', of.keys?.data_keys],
        [
          'Age of the current one',
          of.keys?.data_key_age_seconds !== undefined && printSpan(of.keys.data_key_age_seconds),
        ],
        [
          'Certificate ends',
          of.certificate_ends_at !== undefined && <Instant of={String(of.certificate_ends_at)} />,
        ],
        ['Audit log may take', of.log_budget_bytes && printBytes(of.log_budget_bytes)],
      ]}
    />
  </section>
)

const Refusals = ({ of }: { readonly of: NonNullable<Status['refusals']> }) => (
  <>
    {of.slice(0, refusalsMax).map(({ kind, count }) => (
      <div key={kind}>
        {printCount(count)} × <Reason of={kind} />
      </div>
    ))}
  </>
)

function diskText({ disk_bytes: size, levels }: Status): string | undefined {
  const free = levels?.disk_free_bytes
  if (size === undefined || free === undefined) return undefined
  return `${printBytes(free)} of ${printBytes(size)} left`
}

const Server = ({ of }: { readonly of: Status }) => (
  <section aria-labelledby="server">
    <h2 id="server">
      <span class={of.is_ready ? 'badge good' : 'badge bad'}>
        {of.is_ready ? '✓ Ready' : '✗ Not ready'}
      </span>
    </h2>
    <Facts
      of={[
        ['Version', `${of.version} (${of.build})`],
        ['Serving for', printSpan(of.serving_seconds)],
        ['Store', of.store === 'folder' ? 'a folder' : 'a database'],
        ['Workers', of.workers],
        ['Disk', diskText(of)],
        ['Rows stored so far', of.rows_given !== undefined && printCount(of.rows_given)],
        [
          'Refused since its start',
          of.refusals && of.refusals.length > 0 && <Refusals of={of.refusals} />,
        ],
      ]}
    />
  </section>
)

export function OverviewScreen() {
  const status = useAnswer<Status>({ path: '/status' })
  const history = useAnswer<StatusHistory>({ path: '/status/history' })
  const isRefused = status.asked.value.state === 'refused'
  const newest = known(status.asked.value)
  useEffect(
    () =>
      every(statusMs, () => {
        status.again()
        history.again()
      }),
    [],
  )
  return (
    <>
      <h1 tabIndex={-1}>Overview</h1>
      <Answer asked={status.asked.value} what="the state of the vault" again={status.again}>
        {of => (
          <>
            <Server of={of} />
            <Attention failing={of.failing} findings={of.findings} />
          </>
        )}
      </Answer>
      {!isRefused && (
        <Answer asked={history.asked.value} what="the last hour" again={history.again}>
          {({ samples }) => samples.length > 0 && <Plots samples={samples} />}
        </Answer>
      )}
      {newest !== undefined && <KeysAndBackups of={newest} />}
    </>
  )
}
