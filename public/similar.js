// Names seeds with similar titles while the title of a new one is written. Without it, all else of the form works.

const waitMs = 300

for (const part of document.querySelectorAll('[data-similar]')) nameSimilar(part)

function nameSimilar(part) {
  const input = document.getElementById(part.dataset.of)
  const [status, list] = part.children
  let timer, search
  let shown = ''

  const show = (seeds) => {
    const text = seeds.length === 0 ? '' : `${seeds.length} similar ${seeds.length === 1 ? 'seed' : 'seeds'}:`
    // Said again only if it is another list.
    const names = seeds.map(({ id }) => id).join()
    if (names !== shown) status.textContent = text
    shown = names
    list.replaceChildren(...seeds.map(renderSeed))
    list.hidden = seeds.length === 0
  }
  const find = async () => {
    const title = input.value.trim()
    if (title === '') return show([])
    const { signal } = (search = new AbortController())
    try {
      const answer = await fetch(`${part.dataset.similar}?${new URLSearchParams({ title })}`, {
        signal,
        headers: { accept: 'application/json' },
      })
      if (answer.ok) show((await answer.json()).similar)
    } catch {
      // It is only a hint.
    }
  }
  const findSoon = () => {
    clearTimeout(timer)
    // What it finds is for an earlier title.
    search?.abort()
    timer = setTimeout(find, waitMs)
  }
  input.addEventListener('input', findSoon)
  // Escape closes the list, from the title and from a link in it, until the title is changed.
  for (const element of [input, part])
    element.addEventListener('keydown', ({ key, isComposing }) => {
      if (key !== 'Escape' || isComposing || list.hidden) return
      if (part.contains(document.activeElement)) input.focus()
      show([])
    })
  // That of a refused form, or one that the browser has kept.
  if (input.value !== '') findSoon()
}

function renderSeed({ title, status, href }) {
  const item = document.createElement('li')
  const link = document.createElement('a')
  const name = document.createElement('bdi')
  const hint = document.createElement('span')
  link.href = href
  name.textContent = title
  hint.className = 'hint'
  hint.textContent = ` ${status}`
  link.append(name)
  item.append(link, hint)
  return item
}
