/**
 * The console: locked until a key opens it, and again when nobody attends it, leaves it, or the
 * vault takes the key no more.
 * @module
 */
import { render } from 'preact'
import { useEffect } from 'preact/hooks'
import { Frame } from './frame.tsx'
import { watchIdle } from './idle.ts'
import { keepFocus } from './keep-focus.ts'
import { idleLookMs, idleMsMax } from './limits.ts'
import { Login } from './login.tsx'
import { every, nowMs } from './platform.ts'
import { keyInUse, lock, onLock, owner } from './sitting.ts'

const root = document.getElementById('app')

function Console() {
  const isOpen = owner.value !== undefined
  useEffect(() => {
    document.title = isOpen ? 'Coffer: console' : 'Coffer: locked'
  }, [isOpen])
  return isOpen ? <Frame /> : <Login />
}

/** Draws at once: a page that is left has no later moment. */
function drawAnew(): void {
  if (root === null) return
  render(null, root)
  render(<Console />, root)
}

const lockIfOpen = (text: string): void => {
  if (keyInUse() !== undefined) lock({ text, isFault: false })
}

root?.replaceChildren()
drawAnew()
onLock(drawAnew)
if (root !== null) keepFocus(root)
const idle = watchIdle({
  nowMs,
  idleMsMax,
  onIdle: () => lockIfOpen('Locked after ten idle minutes.'),
})
for (const name of ['keydown', 'pointerdown', 'wheel', 'touchstart'] as const) {
  addEventListener(name, idle.touch, { capture: true, passive: true })
}
every(idleLookMs, idle.look)
document.addEventListener('visibilitychange', idle.look)
addEventListener('pagehide', () => lock())
addEventListener('pageshow', ({ persisted }) => {
  if (persisted) lock()
})
