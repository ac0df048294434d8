import type { Failure } from '../session/failure.ts'
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

/** An error: what went wrong and what to do next. */
export const Problem = ({ failure, retry }: { failure: Failure; retry?: (() => void) | undefined }) => {
  const translated = useTranslated(failure.code)
  const [message, fix] = OWN[failure.code] ?? translated ?? [failure.message || t('Something went wrong.'), failure.fix]
  const fields = Object.entries(fieldProblems(failure))
  return (
    <div class="problem" role="alert">
      <p>
        <strong>{message}</strong> {fix}
      </p>
      {translated && failure.message && (
        <p class="hint" lang="en" dir="ltr">
          {failure.message} {failure.fix}
        </p>
      )}
      {fields.length > 0 && (
        <ul>
          {fields.map(([name, what]) => (
            <li key={name}>
              <code>{name}</code> {what}
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
