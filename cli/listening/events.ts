export interface StreamEvent {
  id: string | undefined
  event: string
  data: string
}

/** Silence in ms after which a connection counts as dead. The platform sends a line after 4 seconds of silence. */
const SILENCE = 20_000

/**
 * Reads the events of a stream until it ends (HTML standard, "Interpreting an event stream").
 * @throws if the connection breaks or is silent for too long
 */
export async function* readStreamEvents(response: Response): AsyncGenerator<StreamEvent> {
  const decoder = new TextDecoder()
  const reader = response.body?.getReader()
  if (!reader) return
  let buffered = ''
  let fields: { id?: string; event?: string; data: string[] } = { data: [] }
  try {
    for (;;) {
      const { value, done } = await readWithin(reader, SILENCE)
      if (done) return
      buffered += decoder.decode(value, { stream: true })
      const lines = buffered.split(/\r\n|\n|\r/)
      buffered = lines.pop() ?? ''
      for (const line of lines) {
        if (line === '') {
          if (fields.data.length > 0) {
            yield { id: fields.id, event: fields.event ?? 'message', data: fields.data.join('\n') }
          }
          fields = { data: [] }
          continue
        }
        const colon = line.indexOf(':')
        if (colon === 0) continue
        const name = colon < 0 ? line : line.slice(0, colon)
        const text = colon < 0 ? '' : line.slice(colon + 1).replace(/^ /, '')
        if (name === 'data') fields.data.push(text)
        else if (name === 'id') fields.id = text
        else if (name === 'event') fields.event = text
      }
    }
  } finally {
    await reader.cancel().catch(() => {})
  }
}

const readWithin = async (reader: ReadableStreamDefaultReader<Uint8Array>, ms: number) => {
  let timer: NodeJS.Timeout | undefined
  const silent = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error('The connection timed out')), ms)
  })
  try {
    return await Promise.race([reader.read(), silent])
  } finally {
    clearTimeout(timer)
  }
}
