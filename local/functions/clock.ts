const real = Date
let offset = 0
let shifted: DateConstructor | undefined

const now = () => real.now() + offset

/** `Date` as it is, but for what it takes from the clock. */
const createShifted = (): DateConstructor =>
  new Proxy(real, {
    construct: (target, args, newTarget) =>
      Reflect.construct(target, args.length === 0 ? [now()] : args, newTarget === shifted ? target : newTarget),
    apply: () => new real(now()).toString(),
    get: (target, name) => (name === 'now' ? now : Reflect.get(target, name)),
  })

/** The clock that no shift reaches. */
export const realNow = (): number => real.now()

/** Sets this thread's `Date` so many milliseconds off. Timers and `performance` go on as they are, as on a host whose clock is set. */
export const shiftClock = (offsetMs: number): void => {
  offset = offsetMs
  shifted ??= createShifted()
  globalThis.Date = shifted
}
