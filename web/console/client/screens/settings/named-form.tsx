import { useState } from 'preact/hooks'
import { announce } from '../../../../ui/announce.tsx'
import { Field, Form, TextField } from '../../../../ui/form.tsx'
import { fieldProblems } from '../../../../ui/problem.tsx'
import { openConsole } from '../../account.ts'

const zones = (): string[] =>
  (Intl as unknown as { supportedValuesOf?: (key: string) => string[] }).supportedValuesOf?.('timeZone') ?? []

interface Named {
  name: string
  locale: string
  time_zone: string
}

/** Name, language and time zone of a user or a workspace. */
export const NamedForm = ({
  now,
  save,
  readOnly,
}: {
  now: Named
  save: (changes: Named) => Promise<unknown>
  readOnly?: boolean
}) => {
  const [name, setName] = useState(now.name)
  const [locale, setLocale] = useState(now.locale)
  const [zone, setZone] = useState(now.time_zone)
  const send = async (): Promise<void> => {
    await save({ name: name.trim(), locale: locale.trim(), time_zone: zone })
    announce('Saved.')
    await openConsole()
  }
  const all = zones()
  return (
    <Form verb="Save" send={send} disabled={readOnly ?? false}>
      {(failure) => {
        const problems = fieldProblems(failure)
        return (
          <>
            <TextField
              label="Name"
              problem={problems.name}
              required
              maxLength={100}
              value={name}
              readOnly={readOnly}
              onText={setName}
            />
            <TextField
              label="Language and region"
              hint="Sets the format of dates and numbers, for example en, de-AT or ru."
              problem={problems.locale}
              required
              maxLength={35}
              value={locale}
              readOnly={readOnly}
              onText={setLocale}
            />
            <Field label="Time zone" problem={problems.time_zone}>
              {(field) => (
                <select
                  {...field}
                  value={zone}
                  disabled={readOnly}
                  onChange={(event) => setZone(event.currentTarget.value)}
                >
                  {(all.includes(zone) ? all : [zone, ...all]).map((one) => (
                    <option key={one}>{one}</option>
                  ))}
                </select>
              )}
            </Field>
          </>
        )
      }}
    </Form>
  )
}
