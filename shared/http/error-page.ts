import { ERRORS, type ErrorCode, type PlatformError } from '../kernel/errors.ts'
import type { StoredResponse } from './idempotency.ts'
import { plainPage } from './plain-page.ts'

/** Tells a person what happened and what they can do. They followed a link, and can't change the request. */
const WORDS: Partial<Record<ErrorCode, { title: string; text: string }>> = {
  rate_limited: { title: 'Too many attempts', text: 'Wait a minute, then go back to the app and try again.' },
  app_suspended: {
    title: 'This app can’t be connected',
    text: 'The platform has suspended the app. Nothing was shared with it.',
  },
  app_not_approved: {
    title: 'This app can’t be connected yet',
    text: 'The platform hasn’t approved the app for customers. Ask the app’s developer when it will be available.',
  },
  internal_error: {
    title: 'Something went wrong',
    text: 'This is our fault. Go back to the app and try again in a few minutes.',
  },
}

const OTHERWISE = {
  title: 'This link doesn’t work',
  text: 'The app that sent you here made an invalid request. Nothing was shared with it. Go back to the app and try again. If that doesn’t help, send the details below to the app’s support.',
}

/** Returns true if the client prefers a page: a browser that follows a link says so first. */
export const wantsPage = ({ accept = '' }: Record<string, string>): boolean => /^\s*text\/html\b/i.test(accept)

/**
 * Renders an error as a page. It shows the code and the catalogue's text, but nothing of the request, which somebody may have
 * written to deceive the reader.
 */
export const renderErrorPage = (error: PlatformError, requestId: string): StoredResponse => {
  const { title, text } = WORDS[error.code] ?? OTHERWISE
  return plainPage({
    status: error.status,
    language: 'en',
    title,
    headers: { vary: 'Accept', ...error.headers },
    content: `<p>${text}</p>
<dl>
<dt>Error</dt><dd><code>${error.code}</code>: ${ERRORS[error.code][1]}</dd>
<dt>Request</dt><dd><code>${requestId}</code></dd>
</dl>`,
  })
}
