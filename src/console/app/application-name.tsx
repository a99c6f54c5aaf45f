/**
 * An application by its name, with its id for those who point at it; by its id where the name is
 * not known.
 * @module
 */
import { useEffect } from 'preact/hooks'
import { applicationNames, learnNames } from './application-names.ts'
import { Text } from './value.tsx'

export function ApplicationName({ id }: { readonly id: string }) {
  useEffect(() => void learnNames(), [])
  const name = applicationNames.value?.get(id)
  if (name === undefined) return <Text of={id} />
  return (
    <span title={id}>
      <Text of={name} />
    </span>
  )
}
