import { useData } from '../../../ui/data.ts'
import { t } from '../../../ui/messages.ts'
import { Screen, Shown } from '../../../ui/screen.tsx'
import { api, unwrap } from '../api.ts'
import { Tiles } from '../ui/tiles.tsx'

/** A developer with their apps in the marketplace. */
export default function Publisher({ id }: { id: string }) {
  const publisher = useData(`installations publisher ${id}`, () =>
    unwrap(api.GET('/console/publishers/{id}', { params: { path: { id } } })),
  )
  return (
    <Screen title={publisher.data?.name ?? t('Publisher')} wide back={{ to: '/marketplace', label: t('Marketplace') }}>
      <Shown known={publisher} rows={2} tall>
        {({ verified, apps }) => (
          <>
            <p class="soft">
              {verified
                ? t('✓ The platform verified this developer.')
                : t('The platform hasn’t verified this developer.')}
            </p>
            <Tiles apps={apps} />
          </>
        )}
      </Shown>
    </Screen>
  )
}
