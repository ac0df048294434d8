import type { TestPlatform } from './platform.ts'

/** Error that stands in for the death of a worker's process. */
class Killed extends Error {
  constructor() {
    super('the worker died here')
  }
}

/**
 * Kills the worker after its n-th effect: a write to the table, a message, an event or an outgoing call. The effect itself
 * happens, and nothing after it. Counting starts at 1.
 * @param counted with `calls`, reads of the table count as well; with `requests`, only outgoing calls do
 * @returns `restore`, which returns to normal and says if the n-th effect was reached, and `effects`, which counts them
 */
export const killAfter = (platform: TestPlatform, n: number, counted: 'effects' | 'calls' | 'requests' = 'effects') => {
  const { table, queues, bus, http } = platform.deps
  let effects = 0
  let dead = false
  const wrap = <A extends unknown[], R>(real: (...args: A) => Promise<R>) => {
    return async (...args: A): Promise<R> => {
      if (dead) throw new Killed()
      const result = await real(...args)
      effects++
      if (effects === n) {
        dead = true
        throw new Killed()
      }
      return result
    }
  }
  // A dead worker doesn't read either, so whatever it waits for ends.
  const reading = <A extends unknown[], R>(real: (...args: A) => Promise<R>) => {
    if (counted === 'calls') return wrap(real)
    return async (...args: A): Promise<R> => {
      if (dead) throw new Killed()
      return real(...args)
    }
  }
  const effect = counted === 'requests' ? reading : wrap
  const originals = {
    get: table.get,
    getAll: table.getAll,
    query: table.query,
    transact: table.transact,
    change: table.change,
    send: queues.send,
    put: bus.put,
    http: http.send,
  }
  table.transact = effect(originals.transact.bind(table)) as typeof table.transact
  table.change = effect(originals.change.bind(table)) as typeof table.change
  table.get = reading(originals.get.bind(table)) as typeof table.get
  table.getAll = reading(originals.getAll.bind(table)) as typeof table.getAll
  table.query = reading(originals.query.bind(table)) as typeof table.query
  queues.send = effect(originals.send)
  bus.put = effect(originals.put)
  http.send = wrap(originals.http)
  return {
    effects: () => effects,
    restore(): boolean {
      table.transact = originals.transact
      table.change = originals.change
      table.get = originals.get
      table.getAll = originals.getAll
      table.query = originals.query
      queues.send = originals.send
      bus.put = originals.put
      http.send = originals.http
      return effects >= n
    },
  }
}
