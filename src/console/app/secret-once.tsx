/**
 * A new key, which the vault tells once: it stands as long as its screen does.
 * @module
 */
import type { ComponentChildren } from 'preact'
import { CopyButton } from './copy-button.tsx'
import { Id } from './value.tsx'

interface SecretOnceProps {
  readonly secret: string
  readonly children?: ComponentChildren
}

export const SecretOnce = ({ secret, children }: SecretOnceProps) => (
  <div class="notice done" role="status">
    <p class="title">The new key, shown this once</p>
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
