/** One step into a JSON value: a property, or an index. */
type Step = string | number

/** Context of a position in a JSON text that may be unfinished. */
export interface Cursor {
  /** Path of the object or array that the position is in. */
  path: readonly Step[]
  /** Name of the property whose value is at the position. Undefined in an array. */
  property: string | undefined
  /** True if the position is where a property name belongs. */
  isKey: boolean
  /** Text of the word that ends at the position, without its opening quote. */
  word: string
  /** Position at which the word begins, with its opening quote. */
  from: number
  /** Property names that the object has already, before the position. */
  present: readonly string[]
}

interface Frame {
  kind: 'object' | 'array'
  /** Name or index of the current value. */
  at: Step
  names: string[]
  expects: 'key' | 'colon' | 'value' | 'comma'
}

const pointerOf = (path: readonly Step[]): string =>
  path.map((step) => `/${String(step).replaceAll('~', '~0').replaceAll('/', '~1')}`).join('')

const TOKEN = /"(?:[^"\\\n]|\\.)*"?|[{}[\]:,]|[^\s{}[\]:,"]+/g

const unquoted = (token: string): string => {
  try {
    return JSON.parse(token)
  } catch {
    return token.replaceAll('"', '')
  }
}

/**
 * Reads a JSON text that may be unfinished or wrong.
 * @param until position at which to stop; the context there is returned
 * @returns positions of all values by JSON pointer, and the context of the position
 */
export const readJson = (text: string, until = text.length): { places: Map<string, number>; cursor: Cursor } => {
  const places = new Map<string, number>([['', 0]])
  const frames: Frame[] = []
  let last: { text: string; from: number; to: number } | undefined
  const pathOf = (): Step[] => frames.map(({ at }) => at)
  const value = (from: number): void => {
    const frame = frames.at(-1)
    if (frame) {
      places.set(pointerOf(pathOf()), from)
      frame.expects = 'comma'
    }
  }
  for (const { 0: token, index: from } of text.matchAll(TOKEN)) {
    if (from >= until) break
    // The word that the position is in isn't read yet: it's being written.
    const to = from + token.length
    const isClosed = /^[{}[\]:,]$/.test(token) || (token.startsWith('"') && token.length > 1 && token.endsWith('"'))
    if (to > until || (to === until && !isClosed)) {
      last = { text: text.slice(from, until), from, to: until }
      break
    }
    last = undefined
    const frame = frames.at(-1)
    if (token === '{' || token === '[') {
      value(from)
      frames.push({
        kind: token === '{' ? 'object' : 'array',
        at: token === '{' ? '' : 0,
        names: [],
        expects: token === '{' ? 'key' : 'value',
      })
    } else if (token === '}' || token === ']') {
      frames.pop()
    } else if (token === ',') {
      if (frame?.kind === 'array' && typeof frame.at === 'number') frame.at++
      if (frame) frame.expects = frame.kind === 'object' ? 'key' : 'value'
    } else if (token === ':') {
      if (frame) frame.expects = 'value'
    } else if (frame?.kind === 'object' && frame.expects === 'key') {
      frame.at = unquoted(token)
      frame.names.push(frame.at)
      frame.expects = 'colon'
      places.set(pointerOf(pathOf()), from)
    } else {
      value(from)
    }
  }
  const frame = frames.at(-1)
  const isKey = frame?.kind === 'object' && (frame.expects === 'key' || frame.expects === 'colon')
  return {
    places,
    cursor: {
      path: frames.slice(0, -1).map(({ at }) => at),
      property: frame?.kind === 'object' && !isKey ? String(frame.at) : undefined,
      isKey,
      word: last?.text.replace(/^"/, '') ?? '',
      from: last?.from ?? until,
      present: frame?.names ?? [],
    },
  }
}

/** Returns the position of a value, or of the nearest one around it that the text has. */
export const placeOf = (places: ReadonlyMap<string, number>, pointer: string): number => {
  for (let one = pointer; one !== ''; one = one.slice(0, one.lastIndexOf('/'))) {
    const at = places.get(one)
    if (at !== undefined) return at
  }
  return 0
}
