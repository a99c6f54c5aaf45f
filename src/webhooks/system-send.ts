/**
 * The way by which a running vault sends: to public addresses, and to those that are allowed.
 * @module
 */
import type { Deps } from '../deps.ts'
import { makeMayReach } from '../egress/public-address.ts'
import { makeSend, type Send } from '../egress/send.ts'
import { systemEgress } from '../egress/system-egress.ts'

export const systemSend = ({ settings, now }: Pick<Deps, 'settings' | 'now'>): Send =>
  makeSend({ ...systemEgress, now, mayReach: makeMayReach(settings.egressAllow) })
