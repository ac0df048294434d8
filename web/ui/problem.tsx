import type { Failure } from '../session/failure.ts'
import { sanitize } from '../session/text.ts'
import { language, rich, t } from './messages.ts'
import { useScript } from './script.ts'

const OWN: Record<string, [string, string]> = {
  no_connection: [t('No connection.'), t('Your changes are still here. Try again when you’re online.')],
}

const loadTexts = () => import('./error-texts.ts')
/** The API’s errors are in English, so an English page needs no others. */
const loadNone = async (): Promise<{ ERROR_TEXTS?: undefined }> => ({})
const load: () => Promise<Partial<Awaited<ReturnType<typeof loadTexts>>>> = language === 'en' ? loadNone : loadTexts

/** Returns an error’s texts in the page’s language. The API’s own message has the particulars. */
const useTranslated = (code: string) => useScript(load).script?.ERROR_TEXTS?.[code]

/** Error messages by field. */
export const fieldProblems = (failure: Failure | undefined): Record<string, string> => {
  const fields = failure?.details.fields
  return fields && typeof fields === 'object'
    ? Object.fromEntries(
        Object.entries(fields as Record<string, string[]>).map(([name, what]) => [name, what.join(' ')]),
      )
    : {}
}

type Listed = [place: string, text: string]

/** Returns an entry of a list in an error's details: a place with what is wrong there and how to fix it, or a record's texts. */
const entryOf = ({ path, message, fix, ...others }: Record<string, unknown>): Listed => {
  const texts = message === undefined ? Object.values(others) : [message, fix]
  return [String(path ?? ''), texts.filter((one) => typeof one === 'string').join(' ')]
}

/** Lists what an error's details list: problems by field, entries of other lists, and names, such as scopes, in a line. */
const listedIn = (failure: Failure): Listed[] => [
  ...Object.entries(fieldProblems(failure)),
  ...Object.entries(failure.details).flatMap(([name, list]): Listed[] => {
    if (!Array.isArray(list) || list.length === 0) return []
    return typeof list[0] === 'object' ? list.map(entryOf) : [[name, list.join(', ')]]
  }),
]

/** An error: what went wrong and what to do next. */
export const Problem = ({ failure, retry }: { failure: Failure; retry?: (() => void) | undefined }) => {
  const translated = useTranslated(failure.code)
  const [message, fix] = OWN[failure.code] ?? translated ?? [failure.message || t('Something went wrong.'), failure.fix]
  const listed = listedIn(failure)
  return (
    <div class="problem" role="alert">
      <p>
        <strong>{message}</strong> {fix}
      </p>
      {translated && failure.message && failure.code !== 'not_found' && (
        <p class="hint" lang="en" dir="ltr">
          {failure.message} {failure.fix}
        </p>
      )}
      {listed.length > 0 && (
        <ul>
          {listed.map(([place, text], i) => (
            <li key={i}>
              {place && <code>{sanitize(place)}</code>} {sanitize(text)}
            </li>
          ))}
        </ul>
      )}
      {failure.requestId && (
        <p class="hint">{rich('Request ID: {requestId}', { requestId: <code>{failure.requestId}</code> })}</p>
      )}
      {retry && (
        <button type="button" onClick={retry}>
          {t('Try again')}
        </button>
      )}
    </div>
  )
}
