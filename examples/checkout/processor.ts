/**
 * A card processor, pretended: yours is another company, and gets the card from your server.
 * @module
 */

export interface Card {
  readonly number: string
  readonly expiration_month: number
  readonly expiration_year: number
  readonly cvc: string
}

/** @returns a receipt, in which no more of the card is than a receipt may show */
export function charge({ number }: Card, cents: number): string {
  return `${(cents / 100).toFixed(2)} from the card that ends in ${number.slice(-4)}`
}
