/** A `fetch` for A2A clients: it sends a token, notes the last event of each stream, and resumes after it. */
export interface ResumingFetch {
  fetch: typeof fetch
  /** Cuts the next stream after so many events. */
  cutAfter(events: number): void
  /** Id of the last event that arrived. */
  lastEventId(): string | undefined
}

const isSubscription = (url: string, body: unknown): boolean =>
  /:subscribe$/.test(new URL(url).pathname) ||
  (typeof body === 'string' && /"(SubscribeToTask|tasks\/resubscribe)"/.test(body))

/**
 * Creates the `fetch` of an official A2A client. The protocol has no ids of events, so its clients send none: a subscription
 * would begin with the task as it is. With `Last-Event-ID` the platform sends what was missed.
 * @param send sends the request; default: over the network
 */
export const resumingFetch = (token: string, send: typeof fetch = fetch): ResumingFetch => {
  let last: string | undefined
  let limit = Number.POSITIVE_INFINITY
  return {
    cutAfter(events) {
      limit = events
    },
    lastEventId: () => last,
    async fetch(input, init) {
      const headers = new Headers(init?.headers)
      headers.set('authorization', `Bearer ${token}`)
      if (last !== undefined && isSubscription(String(input), init?.body)) headers.set('last-event-id', last)
      const response = await send(input, { ...init, headers })
      if (!response.headers.get('content-type')?.startsWith('text/event-stream') || !response.body) return response
      const most = limit
      limit = Number.POSITIVE_INFINITY
      return new Response(
        noting(response.body, most, (id) => {
          last = id
        }),
        response,
      )
    },
  }
}

/** Passes on a stream's events whole, notes their ids, and ends after `most` events, as a connection that breaks does. */
const noting = (
  body: ReadableStream<Uint8Array>,
  most: number,
  note: (id: string) => void,
): ReadableStream<Uint8Array> => {
  const decoder = new TextDecoder()
  let text = ''
  let events = 0
  const source = body.getReader()
  return new ReadableStream({
    async pull(controller) {
      while (true) {
        const end = text.indexOf('\n\n')
        if (end >= 0) {
          const event = text.slice(0, end + 2)
          text = text.slice(end + 2)
          const [, id] = /^id: ?(.*)$/m.exec(event) ?? []
          if (id !== undefined) {
            note(id)
            events++
          }
          controller.enqueue(new TextEncoder().encode(event))
          if (events < most) return
          await source.cancel()
          return controller.close()
        }
        const { done, value } = await source.read()
        if (done) return controller.close()
        text += decoder.decode(value, { stream: true }).replaceAll('\r\n', '\n')
      }
    },
    cancel: (reason) => source.cancel(reason),
  })
}
