import type { Failure } from '../session/failure.ts'
import { rich, t } from './messages.ts'

const OWN: Record<string, [string, string]> = {
  no_connection: [t('No connection.'), t('Your changes are still here. Try again when you’re online.')],
}

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
  const [message, fix] = OWN[failure.code] ?? [failure.message || t('Something went wrong.'), failure.fix]
  const fields = Object.entries(fieldProblems(failure))
  return (
    <div class="problem" role="alert">
      <p>
        <strong>{message}</strong> {fix}
      </p>
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
