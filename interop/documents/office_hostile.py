def hostile_word(folder): return iter(())
