import { indented } from '../output.ts'

/**
 * Decodes a body for display: as JSON if it is JSON, otherwise as text. Hides the callback's token, which could act for the run
 * while it is valid, from anyone who sees the terminal or its log.
 */
export const shownBody = (base64: string): unknown => {
  const text = Buffer.from(base64, 'base64').toString()
  if (text === '') return null
  try {
    const value = JSON.parse(text)
    if (typeof value?.callback?.token !== 'string') return value
    return { ...value, callback: { ...value.callback, token: '(hidden)' } }
  } catch {
    return text
  }
}

export const bodyText = (body: unknown): string =>
  body === null ? '(empty)' : indented(typeof body === 'string' ? body : JSON.stringify(body, null, 2), 4)
