/**
 * Expressions on sample data: the vault evaluates them as it would for a token, and stores nothing.
 * @module
 */
import { useSignal, type Signal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import type { TokenPreview, TokenType } from '../../client/interface.ts'
import { useAsking, type AnswerState } from './asked.ts'
import { Facts } from './facts.tsx'
import { firstSample } from './first-samples.ts'
import { previewMs } from './limits.ts'
import { Answer, Refused } from './notices.tsx'
import { after } from './platform.ts'
import {
  bodyOf,
  faultsOf,
  sampleTypes,
  type SampleFaults,
  type SampleField,
  type Sample,
} from './sample.ts'
import { Id, Items, Text, Value } from './value.tsx'

interface FieldProps {
  readonly sample: Signal<Sample>
  readonly faults: SampleFaults
  readonly name: SampleField
  readonly label: string
  /** Lines of the field. */
  readonly rows: number
  readonly hint?: string
}

function Field({ sample, faults, name, label, rows, hint }: FieldProps) {
  const fault = faults[name]
  return (
    <div>
      <label for={`sample-${name}`}>{label}</label>
      <textarea
        id={`sample-${name}`}
        class="code"
        rows={rows}
        value={sample.value[name]}
        autocomplete="off"
        spellcheck={false}
        aria-describedby={`hint-${name} fault-${name}`}
        aria-invalid={fault !== undefined}
        onInput={({ currentTarget }) => {
          sample.value = { ...sample.value, [name]: currentTarget.value }
        }}
      />
      <p id={`hint-${name}`} class="hint">
        {hint}
      </p>
      <p id={`fault-${name}`} class="fault">
        {fault}
      </p>
    </div>
  )
}

/** The first sample of another type, unless somebody has typed into the one that stands. */
function ofType(sample: Sample, type: TokenType): Sample {
  const isUntouched = JSON.stringify(sample) === JSON.stringify(firstSample(sample.type))
  return isUntouched ? firstSample(type) : { ...sample, type }
}

const TypeField = ({ sample }: Pick<FieldProps, 'sample'>) => (
  <div>
    <label for="sample-type">Type</label>
    <select
      id="sample-type"
      value={sample.value.type}
      onChange={({ currentTarget }) => {
        sample.value = ofType(sample.value, currentTarget.value as TokenType)
      }}
    >
      {sampleTypes.map(type => (
        <option key={type} value={type}>
          {type}
        </option>
      ))}
    </select>
  </div>
)

const SampleForm = (props: Pick<FieldProps, 'sample' | 'faults'>) => (
  <form class="sample" autocomplete="off" onSubmit={event => event.preventDefault()}>
    <TypeField {...props} />
    <Field {...props} name="data" label="Sample data" rows={4} hint="No data of a real person." />
    <Field
      {...props}
      name="mask"
      label="Mask"
      rows={3}
      hint="An expression, or JSON of them; null for none, empty for that of the type."
    />
    <Field
      {...props}
      name="id"
      label="Id"
      rows={1}
      hint="An expression, or an id; empty for a random UUID."
    />
    <Field
      {...props}
      name="search_indexes"
      label="Search indexes"
      rows={2}
      hint="One a line; empty for those of the type."
    />
    <Field
      {...props}
      name="fingerprint_expression"
      label="Fingerprint expression"
      rows={1}
      hint="Empty for that of the type."
    />
    <Field
      {...props}
      name="metadata"
      label="Metadata"
      rows={2}
      hint='JSON, such as {"order": "17"}.'
    />
  </form>
)

const Preview = ({ of }: { readonly of: TokenPreview }) => (
  <>
    <h3>Masked</h3>
    {of.data === undefined ? <p class="hint">Nothing is shown.</p> : <Value of={of.data} />}
    <h3>Found by a search for data</h3>
    {of.search_texts.length === 0 ? (
      <p class="hint">Nothing.</p>
    ) : (
      <Items of={of.search_texts} show={text => <Id of={text} />} />
    )}
    <h3>Stored with it</h3>
    <Facts
      of={[
        ['Id', of.id === undefined ? 'a random UUID' : <Id of={of.id} />],
        ['Fingerprint of', of.fingerprint_text ? <Id of={of.fingerprint_text} /> : 'an empty text'],
        ['Container', <Text of={of.containers[0] ?? ''} />],
      ]}
    />
  </>
)

/** Faults of the form are beside its fields. */
function Outcome({ asked, isFaulty }: { asked: AnswerState<TokenPreview>; isFaulty: boolean }) {
  if (isFaulty) return <p role="status">No token: see what the form says.</p>
  if (asked.state === 'refused') return <Refused refusal={asked.refusal} />
  return (
    <Answer asked={asked} what="the preview">
      {value => <Preview of={value} />}
    </Answer>
  )
}

export function ExpressionsScreen() {
  const sample = useSignal(firstSample('token'))
  const { asked, run } = useAsking<TokenPreview>()
  const { body, faults: own } = bodyOf(sample.value)
  const text = body && JSON.stringify(body)
  useEffect(() => {
    if (text === undefined) return undefined
    const controller = new AbortController()
    const question = { method: 'POST', path: '/expressions/preview', text } as const
    const stop = after(previewMs, () => void run(question, controller.signal))
    return () => {
      stop()
      controller.abort()
    }
  }, [text, run])
  const { value: state } = asked
  const errors = state.state === 'refused' ? state.refusal.errors : undefined
  const faults = own ?? (errors === undefined ? {} : faultsOf(errors))
  return (
    <>
      <h1 tabIndex={-1}>Expressions</h1>
      <p class="hint">
        The vault evaluates them as it would for a token, while you type, and stores nothing.
      </p>
      <div class="beside">
        <section aria-labelledby="sample-title">
          <h2 id="sample-title">Sample</h2>
          <SampleForm sample={sample} faults={faults} />
        </section>
        <section class="outcome" aria-labelledby="result-title">
          <h2 id="result-title">What it gives</h2>
          <Outcome asked={state} isFaulty={Object.keys(faults).length > 0} />
        </section>
      </div>
    </>
  )
}
