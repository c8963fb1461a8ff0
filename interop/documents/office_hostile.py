def hostile_word(folder): return iter(())
def hostile_slides(folder): return iter(())
