/**
 * An application by its name, with its id for those who point at it; by its id where the name is
 * not known.
 * @module
 */
import { useEffect } from 'preact/hooks'
import { learnNames, nameOf } from './application-names.ts'
import { Text } from './value.tsx'

export function ApplicationName({ id }: { readonly id: string }) {
  useEffect(() => void learnNames(), [])
  const name = nameOf(id)
  if (name === undefined) return <Text of={id} />
  return (
    <span title={id}>
      <Text of={name} />
    </span>
  )
}

/** The same as an answer of its own, which no word beside it explains. */
export const Maker = ({ id }: { readonly id: string }) => (
  <>
    {nameOf(id) === undefined && 'an application '}
    <ApplicationName id={id} />
  </>
)
