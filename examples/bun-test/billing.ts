/**
 * Billing as an application has it: it keeps token ids, and sees a card when it charges it.
 * @module
 */
import { createClient, CofferError, type Client } from 'coffer/client'

/** Charges a card, which it has for as long as the call takes. */
export type Charge = (card: { readonly number: string }, cents: number) => Promise<string>

export interface Customer {
  readonly id: string
  readonly cardId: string
}

export type Outcome = { readonly receipt: string } | { readonly problem: 'card is gone' }

/** @param vault  with the key of a private application that reveals */
export async function bill(
  vault: Client,
  charge: Charge,
  { cardId }: Customer,
  cents: number,
): Promise<Outcome> {
  try {
    const { data } = await vault.tokens.get<{ number: string }>(cardId)
    if (data === undefined) throw new Error('the key of the billing reveals nothing')
    return { receipt: await charge(data, cents) }
  } catch (error) {
    if (error instanceof CofferError && error.code === 'not_found') {
      return { problem: 'card is gone' }
    }
    throw error
  }
}

/** Makes the client as the application does, from its environment. */
export const vaultOf = (env: Readonly<Record<string, string | undefined>>): Client =>
  createClient({ address: env['VAULT_ADDRESS'] ?? '', key: env['VAULT_KEY'] ?? '' })
