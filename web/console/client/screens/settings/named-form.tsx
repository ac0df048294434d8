import { useState } from 'preact/hooks'
import { announce } from '../../../../ui/announce.tsx'
import { Field, Form, TextField } from '../../../../ui/form.tsx'
import { language, t } from '../../../../ui/messages.ts'
import { fieldProblems } from '../../../../ui/problem.tsx'
import { openConsole } from '../../account.ts'

const zones = (): string[] =>
  (Intl as unknown as { supportedValuesOf?: (key: string) => string[] }).supportedValuesOf?.('timeZone') ?? []

/** Locales to choose from. One that was set through the API stays selectable. */
const LOCALES =
  'ar bg-BG cs-CZ da-DK de-AT de-CH de-DE el-GR en en-AU en-CA en-GB en-IE en-IN en-US es-ES es-MX et-EE fi-FI fr-BE fr-CA fr-CH fr-FR he-IL hi-IN hr-HR hu-HU id-ID it-CH it-IT ja-JP ko-KR lt-LT lv-LV nb-NO nl-BE nl-NL pl-PL pt-BR pt-PT ro-RO ru-RU sk-SK sl-SI sr-RS sv-SE th-TH tr-TR uk-UA vi-VN zh-CN zh-HK zh-TW'.split(
    ' ',
  )

/** Returns “German (Austria) · de-AT”. */
const localeName = (locale: string): string => {
  try {
    return `${new Intl.DisplayNames(language, { type: 'language', languageDisplay: 'standard' }).of(locale)} · ${locale}`
  } catch {
    return locale
  }
}

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
    await save({ name: name.trim(), locale, time_zone: zone })
    announce(t('Saved.'))
    await openConsole()
  }
  const all = zones()
  return (
    <Form verb={t('Save')} send={send} disabled={readOnly ?? false}>
      {(failure) => {
        const problems = fieldProblems(failure)
        return (
          <>
            <TextField
              label={t('Name')}
              problem={problems.name}
              required
              maxLength={100}
              value={name}
              readOnly={readOnly}
              onText={setName}
            />
            <Field
              label={t('Language and region')}
              hint={t('The console and agents use the language. Dates and numbers use the region.')}
              problem={problems.locale}
            >
              {(field) => (
                <select
                  {...field}
                  value={locale}
                  disabled={readOnly}
                  onChange={(event) => setLocale(event.currentTarget.value)}
                >
                  {(LOCALES.includes(locale) ? LOCALES : [locale, ...LOCALES]).map((one) => (
                    <option key={one} value={one}>
                      {localeName(one)}
                    </option>
                  ))}
                </select>
              )}
            </Field>
            <Field label={t('Time zone')} problem={problems.time_zone}>
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
