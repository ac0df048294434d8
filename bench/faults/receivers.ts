import { type Answer, type Received, type Receiver, startReceiver } from '#testkit/receiver.ts'
import type { Kind } from './kinds.ts'

/** Requests that a receiver got for one event and one subscription. */
export interface Arrival {
  requests: number
  /** Requests that it answered with 2xx, so it has the event. */
  taken: number
  /** Milliseconds from the event's time to its first request. */
  firstAfter: number
}

/** Servers of all kinds of receivers, and the requests that they got. */
export interface Receivers {
  /** Returns the URL of an installation's subscription for a kind. */
  urlOf(kind: Kind, installation: number): string
  /** Arrivals by `arrivalKey`. */
  arrivals: Map<string, Arrival>
  close(): Promise<void>
}

/** @param url of the subscription */
export const arrivalKey = (url: string, eventId: string): string => `${url} ${eventId}`

const WELL: Answer = { kind: 'answer' }

/** Returns true if a 2xx counts as accepted. A body that breaks off still counts, one that drips forever doesn't. */
const isTaken = (answer: Answer): boolean =>
  answer.kind === 'answer' ? (answer.status ?? 200) < 300 : answer.kind === 'reset' && answer.when === 'body'

/** Starts a server for each kind. @param since ms that passed since a time of the platform's, which events carry */
export const startReceivers = async (kinds: readonly Kind[], since: (time: number) => number): Promise<Receivers> => {
  const arrivals = new Map<string, Arrival>()
  const servers = new Map<Kind, Receiver>()

  const behaviour =
    (kind: Kind, receiver: Receiver) =>
    (request: Received): Answer => {
      const { created_at } = JSON.parse(String(request.body)) as { created_at: string }
      const key = arrivalKey(receiver.url + request.path, String(request.headers['webhook-id']))
      const arrival = arrivals.get(key) ?? { requests: 0, taken: 0, firstAfter: since(Date.parse(created_at)) }
      arrivals.set(key, arrival)
      arrival.requests += 1
      const answer = kind.always ?? (arrival.requests === 1 ? kind.first : undefined) ?? WELL
      if (isTaken(answer)) arrival.taken += 1
      // A hundred thousand requests with their headers would take too much memory.
      receiver.requests.length = 0
      return answer
    }

  for (const kind of kinds) {
    const receiver = await startReceiver(kind.tls ? { tls: kind.tls } : {})
    receiver.answer(behaviour(kind, receiver))
    servers.set(kind, receiver)
  }
  return {
    arrivals,
    urlOf: (kind, installation) => `${servers.get(kind)?.url}/${installation}`,
    close: async () => {
      await Promise.all([...servers.values()].map((receiver) => receiver.close()))
    },
  }
}
