/**
 * The card fields as a component of React, from 18 on:
 *
 *     const card = useRef<CardFieldsHandle>(null)
 *     <CardFields ref={card} address="https://vault.example" apiKey={publicKey} />
 *     const { id } = await card.current.tokenize()
 * @module
 */
import { createElement, forwardRef, useEffect, useImperativeHandle, useRef } from 'react'
import type { CSSProperties, ForwardRefExoticComponent, RefAttributes } from 'react'
import { ElementsError, mountCard, type CardElement, type CardOptions } from '../host/index.ts'

export { ElementsError } from '../host/index.ts'

declare function reportError(error: unknown): void

/** Options of `mountCard`; `key` has another name, since React reserves that. */
export interface CardFieldsProps extends Omit<CardOptions, 'key'> {
  readonly apiKey: CardOptions['key']
  /** Id of the element that holds the frame. */
  readonly id?: string
  readonly className?: string
  readonly style?: CSSProperties
}

export type CardFieldsHandle = Pick<CardElement, 'tokenize' | 'focus' | 'clear'>

/** Callbacks are read when they are called, so that new ones do not restart the frame. */
const optionsOf = (props: () => CardFieldsProps): CardOptions => {
  const { address, apiKey, styles, colorScheme, locale, labels, cardholderName, timeoutMs } =
    props()
  const key = async (): Promise<string> => {
    const { apiKey: latest } = props()
    return typeof latest === 'function' ? latest() : latest
  }
  const given = { styles, colorScheme, locale, labels, cardholderName, timeoutMs }
  return {
    ...Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined)),
    address,
    key: typeof apiKey === 'function' ? key : apiKey,
    onChange: state => props().onChange?.(state),
    onReady: () => props().onReady?.(),
    onSubmit: () => props().onSubmit?.(),
    onError: error => tell(props(), error),
  }
}

/** Errors without a handler go to the console. */
function tell({ onError }: CardFieldsProps, error: unknown): void {
  if (onError === undefined || !(error instanceof ElementsError)) reportError(error)
  else onError(error)
}

const notMounted = () =>
  Promise.reject(new ElementsError({ code: 'destroyed', message: 'no card fields are mounted' }))

/** Returns a text by which equal values compare as equal. */
const textOf = (value: unknown): string => JSON.stringify(value) ?? ''

function useCard(props: CardFieldsProps) {
  const { address, apiKey, locale, labels, cardholderName, timeoutMs, styles, colorScheme } = props
  const target = useRef<null>(null)
  const card = useRef<CardElement | undefined>(undefined)
  const latest = useRef(props)
  latest.current = props
  useEffect(() => {
    try {
      card.current = mountCard(
        target.current ?? '',
        optionsOf(() => latest.current),
      )
    } catch (error) {
      tell(latest.current, error)
    }
    return () => {
      card.current?.destroy()
      card.current = undefined
    }
  }, [
    String(address),
    typeof apiKey === 'function' || apiKey,
    locale,
    textOf(labels),
    cardholderName,
    timeoutMs,
  ])
  useEffect(() => {
    try {
      card.current?.update({ styles: styles ?? {}, colorScheme: colorScheme ?? 'auto' })
    } catch (error) {
      tell(latest.current, error)
    }
  }, [textOf(styles), colorScheme])
  return { target, card }
}

/** Another address, key, language or set of fields starts a new, empty frame. */
export const CardFields: ForwardRefExoticComponent<
  CardFieldsProps & RefAttributes<CardFieldsHandle>
> = forwardRef<CardFieldsHandle, CardFieldsProps>(function CardFields(props, ref) {
  const { target, card } = useCard(props)
  useImperativeHandle(
    ref,
    () => ({
      tokenize: request => card.current?.tokenize(request) ?? notMounted(),
      focus: () => card.current?.focus(),
      clear: () => card.current?.clear(),
    }),
    [],
  )
  const { id, className, style } = props
  return createElement('div', { ref: target, id, className, style })
})
