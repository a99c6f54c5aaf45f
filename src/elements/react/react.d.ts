/**
 * The part of React that the component uses: React's own types would give browser globals to the
 * server too. Users of the component have those.
 * @module
 */
declare module 'react' {
  interface Ref<T> {
    current: T
  }

  type CSSProperties = object
  type RefAttributes<T> = object & { readonly ref?: unknown & { readonly current: T | null } }
  type ForwardRefExoticComponent<Props> = (props: Props) => unknown

  function createElement(type: string, props: object): unknown
  function forwardRef<T, Props>(
    render: (props: Props, ref: Ref<T | null> | null) => unknown,
  ): ForwardRefExoticComponent<Props & RefAttributes<T>>
  function useEffect(effect: () => void | (() => void), dependencies: readonly unknown[]): void
  function useImperativeHandle<T>(
    ref: Ref<T | null> | null,
    make: () => T,
    dependencies: readonly unknown[],
  ): void
  function useRef<T>(first: T): Ref<T>
}
