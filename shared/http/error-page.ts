import { ERRORS, type ErrorCode, type PlatformError } from '../kernel/errors.ts'
import { browserLanguage, type Translate, translator } from '../kernel/messages.ts'
import type { StoredResponse } from './idempotency.ts'
import { plainPage } from './plain-page.ts'
import { RawResponse } from './response.ts'

/** Tells a person what happened and what they can do. They followed a link, and can't change the request. */
const wordsFor = (code: ErrorCode, t: Translate): { title: string; text: string } => {
  switch (code) {
    case 'rate_limited':
      return { title: t('Too many attempts'), text: t('Wait a minute, then go back to the app and try again.') }
    case 'app_suspended':
      return {
        title: t('This app can’t be connected'),
        text: t('The platform has suspended the app. Nothing was shared with it.'),
      }
    case 'app_not_approved':
      return {
        title: t('This app can’t be connected yet'),
        text: t(
          'The platform hasn’t approved the app for customers. Ask the app’s developer when it will be available.',
        ),
      }
    case 'not_found':
      return {
        title: t('This page doesn’t exist'),
        text: t('Check the address, or go back to the page that you came from.'),
      }
    case 'internal_error':
      return {
        title: t('Something went wrong'),
        text: t('This is our fault. Go back to the app and try again in a few minutes.'),
      }
    default:
      return {
        title: t('This link doesn’t work'),
        text: t(
          'The app that sent you here made an invalid request. Nothing was shared with it. Go back to the app and try again. If that doesn’t help, send the details below to the app’s support.',
        ),
      }
  }
}

const escaped = (text: string): string => text.replaceAll(/[&<>"']/g, (sign) => `&#${sign.charCodeAt(0)};`)

/**
 * Renders a page for a person whose assistant asked for something that it can't get. It names the assistant by what is certain, its
 * host, and takes them back only if they choose to (RFC 9700 §4.11.2).
 * @param to address with the error for the assistant
 */
export const returnPage = (
  to: string,
  { error, client, receiver }: { error: PlatformError; client: string; receiver: string },
  requestId: string,
  requestHeaders: Record<string, string>,
): RawResponse => {
  const language = browserLanguage(requestHeaders)
  const t = translator(language)
  const page = plainPage({
    status: error.status,
    language,
    title: t('This assistant can’t be connected like this'),
    headers: { vary: 'Accept-Language' },
    content: `<p>${t('{host} made a request that the platform can’t grant. Nothing was shared with it.', { host: `<bdi>${escaped(client)}</bdi>` })}</p>
<p><a role="button" href="${escaped(to)}">${t('Return to {host}', { host: `<bdi>${escaped(receiver)}</bdi>` })}</a></p>
<dl>
<dt>${t('Error')}</dt><dd lang="en"><code>${error.code}</code>: ${ERRORS[error.code][1]}</dd>
<dt>${t('Request')}</dt><dd><code>${requestId}</code></dd>
</dl>`,
  })
  return new RawResponse(page.status, page.headers, page.body)
}

/** Returns true if the client prefers a page: a browser that follows a link says so first. */
export const wantsPage = ({ accept = '' }: Record<string, string>): boolean => /^\s*text\/html\b/i.test(accept)

/**
 * Renders an error as a page in the browser's language. It shows the code and the catalogue's text, but nothing of the request,
 * which somebody may have written to deceive the reader.
 */
export const renderErrorPage = (
  error: PlatformError,
  requestId: string,
  requestHeaders: Record<string, string>,
): StoredResponse => {
  const language = browserLanguage(requestHeaders)
  const t = translator(language)
  const { title, text } = wordsFor(error.code, t)
  return plainPage({
    status: error.status,
    language,
    title,
    headers: { vary: 'Accept, Accept-Language', ...error.headers },
    content: `<p>${text}</p>
<dl>
<dt>${t('Error')}</dt><dd lang="en"><code>${error.code}</code>: ${ERRORS[error.code][1]}</dd>
<dt>${t('Request')}</dt><dd><code>${requestId}</code></dd>
</dl>`,
  })
}
