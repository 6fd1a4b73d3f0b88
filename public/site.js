// Optional: every page works without this script.

for (const box of document.querySelectorAll('[data-copy]')) {
  const button = document.createElement('button')
  button.type = 'button'
  button.className = 'small quiet'
  button.textContent = 'Copy'
  const status = document.createElement('span')
  status.className = 'visually-hidden'
  status.setAttribute('role', 'status')
  button.addEventListener('click', async () => {
    const text = box.value ?? box.textContent
    try {
      await navigator.clipboard.writeText(text)
      button.textContent = status.textContent = 'Copied'
    } catch {
      // The clipboard needs https and permission: select the text for copying by hand.
      box.select?.()
      button.textContent = status.textContent = 'Press Ctrl+C'
    }
    setTimeout(() => (button.textContent = 'Copy'), 3000)
  })
  box.after(button, status)
}

for (const input of document.querySelectorAll('[data-slug-check]')) {
  const note = document.getElementById(`${input.id}-error`)
  const source = input.dataset.slugFrom && document.getElementById(input.dataset.slugFrom)
  let timer
  let isTyped = input.value !== ''

  const check = async () => {
    const slug = input.value
    if (slug === '' || slug === input.defaultValue) {
      note.textContent = ''
      return
    }
    const answer = await fetch(`${input.dataset.slugCheck}?slug=${encodeURIComponent(slug)}`, {
      headers: { accept: 'application/json' },
    }).catch(() => undefined)
    // The value has changed meanwhile, which starts another check.
    if (!answer?.ok || input.value !== slug) return
    const { available } = await answer.json()
    note.textContent = available ? 'Available.' : 'This address is not available.'
    note.classList.toggle('good', available)
  }
  const checkSoon = () => {
    clearTimeout(timer)
    timer = setTimeout(check, 250)
  }
  input.addEventListener('input', () => {
    isTyped = input.value !== ''
    checkSoon()
  })
  source?.addEventListener('input', () => {
    if (isTyped) return
    input.value = source.value
      .normalize('NFKD')
      .toLowerCase()
      .split(/[^a-z0-9]+/)
      .filter(Boolean)
      .join('-')
      .slice(0, 48)
    checkSoon()
  })
}
