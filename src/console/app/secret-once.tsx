/**
 * A new key, which the vault tells once: it stands as long as its screen does.
 * @module
 */
import type { ComponentChildren } from 'preact'
import { useEffect, useRef } from 'preact/hooks'
import { CopyButton } from './copy-button.tsx'
import { Id } from './value.tsx'

interface SecretOnceProps {
  readonly secret: string
  readonly children?: ComponentChildren
}

/** It comes into view, with the focus: it may stand below the end of the window. */
export function SecretOnce({ secret, children }: SecretOnceProps) {
  const box = useRef<HTMLDivElement>(null)
  const title = useRef<HTMLParagraphElement>(null)
  useEffect(() => {
    title.current?.focus({ preventScroll: true })
    box.current?.scrollIntoView({ block: 'nearest' })
  }, [])
  return (
    <div ref={box} class="notice done" role="status">
      <p ref={title} class="title" tabIndex={-1}>
        The new key, shown this once
      </p>
      <p>
        <span class="secret">
          <Id of={secret} />
        </span>{' '}
        <CopyButton text={secret} what="the new key" />
      </p>
      <p>Copy it to where it is used. It is gone from here when you leave this screen.</p>
      {children}
    </div>
  )
}
