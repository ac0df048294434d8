import { useState } from 'preact/hooks'
import { resolveUrl } from '../session/config.ts'
import { type Appearance, loadAppearance, saveAppearance } from '../theme/appearance.ts'
import { Modal } from './dialog.tsx'
import { t } from './messages.ts'

const THEMES = { system: t('Like the system'), light: t('Light'), dark: t('Dark') } as const
const DENSITIES = { comfortable: t('Comfortable'), compact: t('Compact') } as const

const Choices = <T extends string>({
  legend,
  name,
  options,
  chosen,
  onChoose,
}: {
  legend: string
  name: string
  options: Readonly<Record<T, string>>
  chosen: T
  onChoose: (value: T) => void
}) => (
  <fieldset>
    <legend>{legend}</legend>
    <div class="segments">
      {(Object.entries(options) as [T, string][]).map(([value, label]) => (
        <label key={value}>
          <input type="radio" name={name} checked={value === chosen} onChange={() => onChoose(value)} />
          <span>{label}</span>
        </label>
      ))}
    </div>
  </fieldset>
)

/** Lets people choose colours and density for this browser. A choice shows at once. */
export default function AppearanceDialog({ onClose }: { onClose: () => void }) {
  const [{ theme, density }, setChosen] = useState(loadAppearance)
  const choose = (chosen: Appearance): void => {
    saveAppearance(chosen)
    setChosen(chosen)
  }
  return (
    <Modal title={t('Appearance')} onClose={onClose}>
      <Choices
        legend={t('Theme')}
        name="theme"
        options={THEMES}
        chosen={theme ?? 'system'}
        onChoose={(value) => choose({ ...(value !== 'system' && { theme: value }), ...(density && { density }) })}
      />
      <Choices
        legend={t('Density')}
        name="density"
        options={DENSITIES}
        chosen={density ?? 'comfortable'}
        onChoose={(value) => choose({ ...(theme && { theme }), ...(value === 'compact' && { density: value }) })}
      />
      <p class="hint">{t('Applies to this browser.')}</p>
      <p class="hint">
        <a href={resolveUrl('docs/notices.txt')} target="_blank" rel="noopener noreferrer">
          {t('Third-party licences')}
        </a>
      </p>
    </Modal>
  )
}
